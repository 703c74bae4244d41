// SPDX-License-Identifier: Apache-2.0
/*
 * Labels by a library (labels_custom.c) that is loaded while the program runs, unless it was
 * preloaded: labels_library SECONDS LIBRARY.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "labels_burn.h"

int main(int argc, char **argv)
{
	const struct labels_writer *writer;
	void *library = argc > 2 ? dlopen(argv[2], RTLD_NOW) : NULL;

	writer = library ? dlsym(library, "labels_library_writer") : NULL;
	if (!writer) {
		fprintf(stderr, "%s SECONDS LIBRARY: %s\n", argv[0], argc > 2 ? dlerror() : "");
		return EXIT_FAILURE;
	}
	return labels_main(writer, argc, argv);
}
