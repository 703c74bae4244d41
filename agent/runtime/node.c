// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <errno.h>

#include "base/cleanup.h"
#include "runtime/library.h"
#include "runtime/node.h"

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
	_cleanup_library_ struct library library = LIBRARY_NONE;
	int err = library_open(tgid, LIBRARY, &library);

	return err ? err : look_at(library.image, library.bias, ret_runtime);
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
