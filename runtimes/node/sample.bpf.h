/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stacks through the code of V8, the engine of Node: its own (builtins, among them the interpreter)
 * and what it has compiled. All frames of both have a frame pointer; in those of JavaScript the
 * function stands below it. Code that has no frame of its own, or none yet, is left out: rbp is
 * that of who has called it. x86-64.
 */
#ifndef CTXPROP_RUNTIMES_NODE_SAMPLE_BPF_H
#define CTXPROP_RUNTIMES_NODE_SAMPLE_BPF_H

#include "profile/frame.bpf.h"
#include "runtimes/compiled.h"
#include "runtimes/node/v8.bpf.h"
#include "runtimes/runtime.h"

/* The frame of a function; rbp is the address of `pointer`. */
struct node_frame {
	__u64 function;
	__u64 context; /* an object; in frames of other code it is a number */
	__u64 pointer;
	__u64 back;
};
#define NODE_FRAME_BELOW    16 /* bytes of it below the frame pointer */
#define NODE_BYTECODE_BELOW 32 /* so far below it code that is not optimised has its bytecode */
#define NODE_MARKERS        256

/* Does the word say which kind of other code's frame it is? */
static __always_inline int node_is_marker(__u64 context)
{
	return context && context < NODE_MARKERS && !(context & 1);
}

/* Is the code at u->pc V8's, as far as the place tells? */
static __always_inline int node_has(const struct unwind *u, const struct node_code *code)
{
	__u64 pc = u->exact ? u->pc : u->pc - 1;

	return !u->mapping || pc - u->mapping->bias - code->builtins < code->builtins_size;
}

/* What all functions of one text share, of a function; 0: it is none. */
VERIFIED_ALONE __u64 node_info(const struct node_code *code, __u64 function)
{
	if (!code || !code->function || v8_type(function) - code->function >= NODE_FUNCTIONS)
		return 0;
	return v8_word(function, code->function_info);
}

VERIFIED_ALONE __u64 node_check_of(const struct node_code *code, __u64 info)
{
	if (!code)
		return 0;
	return node_check(v8_word(info, code->info_scope), v8_word(info, code->info_script),
			  (__u32)v8_word(info, code->info_parameters));
}

/* Functions may have been put into the one whose optimised code runs, or has called, at `pc`. */
VERIFIED_ALONE int node_add_inner(struct profile_sample *s, __u64 pc, __u64 info, __u64 info_check)
{
	const __u64 from = (pc & ~NODE_PAIR_EXACT) - NODE_AROUND_BEFORE;
	__u64 around[NODE_AROUND_WORDS];

	if (s && !bpf_probe_read_user(around, sizeof(around), (const void *)from))
		frame_add_inner(s, pc, node_check_inner(around, info, info_check));
	return 0;
}

/* Is the code in no file, and not of the kind that is compiled at once, which has bytecode? */
static __always_inline int node_is_optimised(const struct unwind *u, const struct node_code *code)
{
	return code->version && !u->mapping &&
	       v8_type(user_read(u->bp - NODE_BYTECODE_BELOW)) != code->bytecode;
}

/* Is the frame at rbp that of the instruction that runs, which has yet to fill it in? */
static __always_inline int node_is_new(const struct unwind *u)
{
	return u->exact && u->bp - u->sp < NODE_FRAME_BELOW;
}

static __always_inline __u32 node_go_on(struct unwind *u, const struct node_frame *frame)
{
	u->sp = u->bp + 2 * sizeof(__u64);
	u->bp = frame->pointer;
	u->pc = frame->back;
	return u->pc ? 0 : PROFILE_STOP_READ;
}

/*
 * By what is in the frame at rbp, if it is one of V8's. Code in no file may be a library's that is
 * not known yet: its rbp is anything. Returns enum profile_stop, 0: go on.
 */
static __always_inline __u32 node_caller(struct unwind *u, const struct node_code *code)
{
	const __u64 pc = u->exact ? u->pc : u->pc - 1;
	struct node_frame frame = {};
	__u64 info = 0, check;

	if (u->bp >= u->sp)
		bpf_probe_read_user(&frame, sizeof(frame),
				    (const void *)(u->bp - NODE_FRAME_BELOW));
	if (v8_is_object(frame.context) && !node_is_new(u))
		info = node_info(code, frame.function);
	if (info) {
		check = node_check_of(code, info);
		if (node_is_optimised(u, code))
			node_add_inner(u->sample, u->pc | (u->exact ? NODE_PAIR_EXACT : 0), info,
				       check);
		frame_add_named(u->sample, info, check);
	} else {
		frame_add(u->sample, pc);
	}
	if (info || node_is_new(u) || node_is_marker(frame.context) || !code->function)
		return node_go_on(u, &frame);
	return u->mapping ? PROFILE_STOP_READ : PROFILE_STOP_MAPPING;
}

/* See hook_unwind(). */
static __always_inline int node_unwind(struct unwind *u, const struct runtime_compiled *compiled)
{
	const struct node_code *code = &compiled->node;

	if (!node_has(u, code))
		return 0;
	u->sample->named_kind = RUNTIME_NODE;
	u->stop = node_caller(u, code);
	u->exact = 0;
	return 1;
}

#endif
