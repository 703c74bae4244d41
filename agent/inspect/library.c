// SPDX-License-Identifier: Apache-2.0
#include <errno.h>

#include "inspect/library.h"

int library_open(const struct subject *subject, const char *prefix, struct library *ret_library)
{
	const struct subject_file *file = subject_find(subject, prefix);
	int err;

	*ret_library = (struct library){};
	if (!file)
		return -ENOENT;
	if (file->fd < 0)
		return file->fd;
	err = elf_image_open(file->fd, &ret_library->image);
	if (err)
		return err;
	ret_library->file = (__u32)(file - subject->file);
	ret_library->bias = file->start - elf_image_base(ret_library->image);
	return 0;
}

void library_close(struct library *library)
{
	elf_image_close(library->image);
	*library = (struct library){};
}

int library_program_bias(const struct subject *subject, __u64 entry, __u64 *ret_bias)
{
	if (!subject->entry)
		return -ENOENT;
	*ret_bias = subject->entry - entry;
	return 0;
}
