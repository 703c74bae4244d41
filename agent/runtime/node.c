// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <errno.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "runtime/node.h"

#define TIMERS "_ZN4node11Environment9RunTimersEP10uv_timer_s"
#define READS  "_ZN4node15LibuvStreamWrap8OnUvReadElPK8uv_buf_t"
#define LATER  "_ZN4node11Environment14CheckImmediateEP10uv_check_s"
#define LOOP   "uv_run"

/* Where it is in the process that was loaded `bias` above what the image says. */
static int find_range(struct elf_image *image, __u64 bias, const char *name,
		      struct runtime_range *ret_range)
{
	int err = elf_image_symbol_range(image, name, &ret_range->start, &ret_range->end);

	ret_range->start += bias;
	ret_range->end += bias;
	return err;
}

static int look_at_node(struct elf_image *image, __u64 bias, struct runtime_node *places)
{
	int err = elf_image_machine(image) == EM_X86_64 ? 0 : -ENOENT;

	if (!err)
		err = find_range(image, bias, TIMERS, &places->timers);
	if (!err)
		err = find_range(image, bias, READS, &places->reads);
	return err ? err : find_range(image, bias, LATER, &places->later);
}

static int look_at_libuv(struct elf_image *image, __u64 bias, struct node *node)
{
	static const char *const functions[NODE_PROBES] = {
	    [NODE_MADE] = "uv_tcp_init",
	    [NODE_CONNECTS] = "uv_tcp_connect",
	    [NODE_CLOSES] = "uv_close",
	};
	int err = find_range(image, bias, LOOP, &node->runtime.node.loop);
	__u64 address;

	for (int i = 0; !err && i < NODE_PROBES; i++) {
		err = elf_image_symbol(image, functions[i], &address);
		if (!err)
			err = elf_image_offset(image, address, &node->offset[i]);
	}
	return err;
}

static int open_node(__u32 tgid, struct elf_image *image, struct runtime_node *places)
{
	_cleanup_library_ struct library library = LIBRARY_NONE;
	__u64 address, bias;
	int err;

	if (elf_image_symbol(image, TIMERS, &address)) {
		err = library_open(tgid, "libnode.so", &library);
		return err ? err : look_at_node(library.image, library.bias, places);
	}
	err = process_load_bias(tgid, elf_image_entry(image), &bias);
	return err ? err : look_at_node(image, bias, places);
}

/* In the program, in a library of its own, or in that of Node. */
static int open_libuv(__u32 tgid, struct elf_image *image, struct node *node)
{
	static const char *const names[] = {"libuv.so", "libnode.so"};
	char exe[PROCESS_PATH_MAX];
	__u64 address, bias;
	int err = -ENOENT;

	if (!elf_image_symbol(image, LOOP, &address)) {
		snprintf(node->libuv, sizeof(node->libuv), "%s", process_exe(exe, tgid));
		err = process_load_bias(tgid, elf_image_entry(image), &bias);
		return err ? err : look_at_libuv(image, bias, node);
	}
	for (int i = 0; err == -ENOENT && i < 2; i++) {
		_cleanup_library_ struct library library = LIBRARY_NONE;

		err = library_open(tgid, names[i], &library);
		if (!err)
			err = look_at_libuv(library.image, library.bias, node);
		snprintf(node->libuv, sizeof(node->libuv), "%s", library.path);
	}
	return err;
}

int node_inspect(__u32 tgid, struct elf_image *image, struct node *ret_node)
{
	int err;

	*ret_node = (struct node){.runtime = {.kind = RUNTIME_NODE}};
	err = open_node(tgid, image, &ret_node->runtime.node);
	return err ? err : open_libuv(tgid, image, ret_node);
}
