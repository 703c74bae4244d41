// SPDX-License-Identifier: Apache-2.0
#include <errno.h>

#include "runtime/driver.h"
#include "runtimes/dotnet/dotnet.h"

static int detect(const struct subject *subject, struct elf_image *image, struct classified *found)
{
	int err = dotnet_inspect(subject, image);

	if (err)
		return err;
	found->runtime.kind = RUNTIME_OPAQUE;
	found->why = WHY_DOTNET;
	return -ENOTSUP;
}

const struct runtime_driver dotnet_driver = {
    .name = ".NET",
    .wanted = dotnet_wanted,
    .wanted_count = DOTNET_WANTED,
    .detect = detect,
};
