// SPDX-License-Identifier: Apache-2.0
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/proc.h"
#include "cmd/flow_stack.h"
#include "inspect/code_location.h"

/* The address of each call but the last is one that it returns to. */
static int find(const struct record_stack *stack, __u32 i, struct code_location *ret)
{
	return code_location_find(stack->who.tgid, stack->address[i], i > 0, ret);
}

static void print_frame(const struct record_stack *stack, __u32 i)
{
	struct code_location location;
	const char *file;

	printf("\t%016llx", (unsigned long long)stack->address[i]);
	if (!find(stack, i, &location)) {
		file = strrchr(location.module, '/');
		if (*location.function)
			printf(" %s+0x%llx", location.function, (unsigned long long)location.into);
		printf(" (%s+0x%llx)", file ? file + 1 : location.module,
		       (unsigned long long)location.offset);
	}
	putchar('\n');
}

void flow_stack_print(const struct record_stack_entry *entry)
{
	const struct record_stack *stack = entry ? &entry->stack : NULL;
	char comm[PROC_COMM_MAX];

	if (!stack)
		return;
	printf("    sent by \"%s\",pid=%u,tid=%u\n",
	       proc_comm(comm, stack->who.tgid, stack->who.tid), stack->who.tgid, stack->who.tid);
	for (__u32 i = 0; i < stack->depth && i < RECORD_STACK_MAX; i++)
		print_frame(stack, i);
}

static json_t *frame_json(const struct record_stack *stack, __u32 i)
{
	struct code_location location;
	bool known = !find(stack, i, &location);

	/* Names of files and functions may be no UTF-8. */
	return json_pack("{sI, so?, sI, so?, sI}", "address", (json_int_t)stack->address[i],
			 "module", known ? json_string(location.module) : NULL, "offset",
			 (json_int_t)location.offset, "function",
			 *location.function ? json_string(location.function) : NULL, "into",
			 (json_int_t)location.into);
}

json_t *flow_stack_json(const struct record_stack_entry *entry)
{
	const struct record_stack *stack = entry ? &entry->stack : NULL;
	json_t *frames;

	if (!stack)
		return json_null();
	frames = json_array();
	for (__u32 i = 0; i < stack->depth && i < RECORD_STACK_MAX; i++)
		json_array_append_new(frames, frame_json(stack, i));
	return json_pack("{sI, sI, so}", "pid", (json_int_t)stack->who.tgid, "tid",
			 (json_int_t)stack->who.tid, "frames", frames);
}
