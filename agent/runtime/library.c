// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>

#include "base/cleanup.h"
#include "runtime/library.h"

int library_open(__u32 tgid, const char *prefix, struct library *ret_library)
{
	__u64 start;
	int err = process_mapped(tgid, prefix, ret_library->path, LIBRARY_PATH_MAX, &start);

	if (err)
		return err;
	ret_library->fd = open(ret_library->path, O_RDONLY | O_CLOEXEC);
	if (ret_library->fd < 0)
		return -errno;
	err = elf_image_open(ret_library->fd, &ret_library->image);
	if (!err)
		ret_library->bias = start - elf_image_base(ret_library->image);
	return err;
}

void library_close(struct library *library)
{
	elf_image_close(library->image);
	cleanup_close(&library->fd);
}
