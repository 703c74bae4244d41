// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <errno.h>

#include "inspect/subject.h"
#include "profile/confined.h"
#include "runtimes/node/compiled.h"
#include "runtimes/node/node.h"
#include "runtimes/node/v8.h"

static int read_file(struct elf_image *image, void *shared)
{
	return elf_image_machine(image) == EM_X86_64 ? v8_code(image, shared) : -ENOTSUP;
}

int node_compiled_read(__u32 tgid, struct runtime_compiled *ret_compiled)
{
	_cleanup_subject_ struct subject subject = SUBJECT_NONE;
	const struct subject_file *file;
	struct node_code *code;
	int err = subject_open(tgid, node_wanted, NODE_WANTED, &subject);

	if (err)
		return err;
	file = subject_find(&subject, node_wanted[NODE_LIBNODE].prefix);
	if (!file)
		file = &subject.file[SUBJECT_PROGRAM];
	if (file->fd < 0)
		return file->fd;
	code = confined_alloc(sizeof(*code));
	err = code ? confined_run(file->fd, read_file, code) : -ENOMEM;
	if (!err)
		ret_compiled->node = *code;
	confined_free(code, sizeof(*code));
	return err;
}
