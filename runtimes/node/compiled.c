// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <errno.h>

#include "inspect/sandbox.h"
#include "inspect/subject.h"
#include "inspect/confined.h"
#include "runtimes/node/compiled.h"
#include "runtimes/node/node.h"
#include "runtimes/node/v8.h"

#define LOOK_MS 5000 /* it takes some 200 ms */

/* Memory that the sandbox has, too. */
struct looking {
	__u32 tgid;
	int err; /* why there is no code */
	struct node_code code;
};

static int read_file(int fd, struct node_code *ret)
{
	_cleanup_elf_image_ struct elf_image *image = NULL;
	int err = elf_image_open(fd, &image);

	if (err)
		return err;
	return elf_image_machine(image) == EM_X86_64 ? v8_code(image, ret) : -ENOTSUP;
}

/* In the sandbox. */
static int look(int socket, void *shared)
{
	_cleanup_subject_ struct subject subject = SUBJECT_NONE;
	const struct subject_file *file;
	struct looking *looking = shared;
	int err;

	(void)socket;
	looking->err = subject_open(looking->tgid, node_wanted, NODE_WANTED, &subject);
	if (looking->err)
		return 0;
	file = subject_find(&subject, node_wanted[NODE_LIBNODE].prefix);
	if (!file)
		file = &subject.file[SUBJECT_PROGRAM];
	err = sandbox_confine();
	if (!err)
		looking->err = file->fd < 0 ? file->fd : read_file(file->fd, &looking->code);
	return err;
}

int node_compiled_read(__u32 tgid, struct runtime_compiled *ret_compiled)
{
	struct looking *looking = confined_alloc(sizeof(*looking));
	int err;

	if (!looking)
		return -ENOMEM;
	looking->tgid = tgid;
	err = confined_call(look, looking, LOOK_MS);
	if (!err)
		err = looking->err;
	if (!err)
		ret_compiled->node = looking->code;
	confined_free(looking, sizeof(*looking));
	return err;
}
