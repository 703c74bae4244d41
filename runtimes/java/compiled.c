// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <errno.h>

#include "inspect/subject.h"
#include "profile/confined.h"
#include "runtimes/java/compiled.h"
#include "runtimes/java/hotspot.h"
#include "runtimes/java/java.h"

/* What the library's file says. */
struct told {
	struct hotspot_tables tables;
	__u64 base;
};

static int read_library(struct elf_image *image, void *shared)
{
	struct told *told = shared;

	if (elf_image_machine(image) != EM_X86_64)
		return -ENOTSUP;
	hotspot_find(image, &told->tables);
	told->base = elf_image_base(image);
	return 0;
}

static int read_machine(const struct subject *subject, struct told *told, struct java_code *ret)
{
	const struct subject_file *file = subject_find(subject, java_wanted[0].prefix);
	struct hotspot hotspot;
	int err;

	if (!file)
		return -ENOENT;
	if (file->fd < 0)
		return file->fd;
	err = confined_run(file->fd, read_library, told);
	if (!err)
		err = hotspot_open(subject->memory_fd, &told->tables, file->start - told->base,
				   &hotspot);
	return err ? err : hotspot_code(&hotspot, ret);
}

int java_compiled_read(__u32 tgid, struct runtime_compiled *ret_compiled)
{
	_cleanup_subject_ struct subject subject = SUBJECT_NONE;
	struct told *told;
	int err = subject_open(tgid, java_wanted, JAVA_WANTED, &subject);

	if (err)
		return err;
	told = confined_alloc(sizeof(*told));
	err = told ? read_machine(&subject, told, &ret_compiled->java) : -ENOMEM;
	confined_free(told, sizeof(*told));
	return err;
}
