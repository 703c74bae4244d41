// SPDX-License-Identifier: Apache-2.0
#include <errno.h>

#include "runtimes/dotnet/dotnet.h"

const struct subject_wanted dotnet_wanted[DOTNET_WANTED] = {
    {.prefix = "libcoreclr.so"}, {.prefix = "libmonosgen-2.0.so"}, {.prefix = "libmono-2.0.so"}};

/*
 * What programs have that are a runtime themselves: Mono; what is published as a single file; and
 * what was compiled to machine code before.
 */
static const char *const symbols[] = {"mono_jit_init", "DotNetRuntimeInfo",
				      "DotNetRuntimeDebugHeader"};

int dotnet_inspect(const struct subject *subject, struct elf_image *image)
{
	__u64 address;

	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++)
		if (!elf_image_symbol(image, symbols[i], &address))
			return 0;
	for (size_t i = 0; i < DOTNET_WANTED; i++)
		if (subject_find(subject, dotnet_wanted[i].prefix))
			return 0;
	return -ENOENT;
}
