// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>

#include "base/list.h"
#include "runtime/processes.h"
#include "runtime/running.h"

static void add(__u32 tgid, void *data)
{
	struct running *running = data;
	struct process_program program, *entry;

	if (!process_program(tgid, &program))
		return;
	entry = list_add(&running->program, &running->count, sizeof(*entry));
	if (entry)
		*entry = program;
	else
		running->err = -ENOMEM;
}

static int compare(const void *a, const void *b)
{
	const struct process_program *one = a, *other = b;

	if (one->inode != other->inode)
		return one->inode < other->inode ? -1 : 1;
	if (one->device != other->device)
		return one->device < other->device ? -1 : 1;
	return 0;
}

int running_gather(int runtimes_fd, struct running *ret_running)
{
	*ret_running = (struct running){};
	processes_each(runtimes_fd, add, ret_running);
	if (ret_running->count)
		qsort(ret_running->program, ret_running->count, sizeof(*ret_running->program),
		      compare);
	return ret_running->err;
}

void running_free(struct running *running)
{
	free(running->program);
	*running = (struct running){};
}

bool running_has(const struct stat *file, void *data)
{
	const struct running *running = data;
	const struct process_program wanted = {.device = file->st_dev, .inode = file->st_ino};

	return running->count && bsearch(&wanted, running->program, running->count,
					 sizeof(*running->program), compare);
}
