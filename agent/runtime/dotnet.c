// SPDX-License-Identifier: Apache-2.0
#include <errno.h>

#include "runtime/dotnet.h"
#include "runtime/library.h"

/* How the files of its runtimes begin, in library_open()'s way. */
static const char *const libraries[] = {"libcoreclr.so", "libmonosgen-2.0.so", "libmono-2.0.so"};

/*
 * What programs have that are a runtime themselves: Mono; what is published as a single file; and
 * what was compiled to machine code before.
 */
static const char *const symbols[] = {"mono_jit_init", "DotNetRuntimeInfo",
				      "DotNetRuntimeDebugHeader"};

int dotnet_inspect(__u32 tgid, struct elf_image *image)
{
	char path[LIBRARY_PATH_MAX];
	__u64 address;
	int err = -ENOENT;

	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++)
		if (!elf_image_symbol(image, symbols[i], &address))
			return 0;
	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]) && err == -ENOENT; i++)
		err = process_mapped(tgid, libraries[i], path, sizeof(path), &address);
	return err;
}
