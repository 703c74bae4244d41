// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>

#include "base/cleanup.h"
#include "runtime/node.h"
#include "runtime/process.h"

#define TIMERS  "_ZN4node11Environment9RunTimersEP10uv_timer_s"
#define LOOP    "uv_run"
#define LIBRARY "libnode.so"

/* Node is in this file, which was moved by `bias`. */
static int look_at(struct elf_image *image, __u64 bias, struct runtime *ret_runtime)
{
	struct runtime found = {.kind = RUNTIME_NODE};
	struct runtime_node *places = &found.node;

	if (elf_image_machine(image) != EM_X86_64 ||
	    elf_image_symbol_range(image, TIMERS, &places->timers, &places->timers_end) ||
	    elf_image_symbol_range(image, LOOP, &places->loop, &places->loop_end))
		return -ENOENT;
	places->timers += bias;
	places->timers_end += bias;
	places->loop += bias;
	places->loop_end += bias;
	*ret_runtime = found;
	return 0;
}

static int look_at_library(__u32 tgid, struct runtime *ret_runtime)
{
	_cleanup_elf_image_ struct elf_image *image = NULL;
	_cleanup_close_ int fd = -1;
	char path[PATH_MAX + PROCESS_PATH_MAX];
	__u64 start;
	int err = process_mapped(tgid, LIBRARY, path, sizeof(path), &start);

	if (err)
		return err;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = elf_image_open(fd, &image);
	return err ? err : look_at(image, start - elf_image_base(image), ret_runtime);
}

int node_inspect(__u32 tgid, struct elf_image *image, struct runtime *ret_runtime)
{
	__u64 address, bias;
	int err;

	if (elf_image_symbol(image, TIMERS, &address))
		return look_at_library(tgid, ret_runtime);
	err = process_load_bias(tgid, elf_image_entry(image), &bias);
	return err ? err : look_at(image, bias, ret_runtime);
}
