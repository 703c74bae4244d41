// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>

#include "inspect/process_memory.h"
#include "runtimes/node/inlined.h"
#include "runtimes/node/loop.h"
#include "runtimes/node/text.h"

/* Is what is there now what the sampler has met? */
static bool is_same(int memory, const struct node_code *code, const struct node_object *object,
		    __u64 pc, __u64 check)
{
	const __u64 info = object->info;
	__u64 around[NODE_AROUND_WORDS];

	if (process_memory_read(memory, pc - NODE_AROUND_BEFORE, around, sizeof(around)))
		return false;
	return node_check_inner(around, info,
				node_check(node_word(memory, info, code->info_scope),
					   node_word(memory, info, code->info_script),
					   (__u32)node_word(memory, info,
							    code->info_parameters))) == check;
}

/*
 * What has called is at a point that V8 knows, if it may have to be gone on with by other code; else
 * at least the loop is known that it is in.
 */
static int point_of(int memory, const struct node_object *object, __u64 pc, bool is_exact)
{
	int point = NODE_POINT_NONE;

	if (!is_exact)
		point = node_object_point(memory, object, (__u32)(pc - object->start));
	return point == NODE_POINT_NONE ? node_loop_point(memory, object, is_exact ? pc : pc - 1)
					: point;
}

int node_inlined_read(int memory, const struct named_code *named,
		      __u64 ret_infos[NODE_FRAMES_MAX])
{
	const struct node_code *code = &named->compiled->node;
	const __u64 pc = named->address & ~NODE_PAIR_EXACT;
	const bool is_exact = named->address & NODE_PAIR_EXACT;
	struct node_object object;
	size_t count;
	int point;

	if (!node_object_find(memory, code, is_exact ? pc : pc - 1, &object))
		return -ENOENT;
	if (!is_same(memory, code, &object, pc, named->check))
		return -ESTALE;
	point = point_of(memory, &object, pc, is_exact);
	count = point < 0 ? 0 : node_translation_read(memory, &object, point, ret_infos);
	for (size_t i = 0; i < count; i++)
		if (node_type(memory, ret_infos[i]) != code->info)
			return -ENOENT;
	if (count < 2)
		return -ENOENT;
	memmove(ret_infos, ret_infos + 1, (count - 1) * sizeof(*ret_infos));
	return (int)count - 1;
}
