/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stacks through code that HotSpot has compiled: its interpreter, its methods and its stubs.
 * Methods that are interpreted have frames with fixed places; what is compiled has a frame of known
 * size. All of this is called by such code again, but for the stub by which C++ calls Java. x86-64.
 */
#ifndef CTXPROP_RUNTIMES_JAVA_SAMPLE_BPF_H
#define CTXPROP_RUNTIMES_JAVA_SAMPLE_BPF_H

#include "profile/frame.bpf.h"
#include "runtimes/compiled.h"
#include "runtimes/java/code.bpf.h"
#include "runtimes/java/edge.bpf.h"
#include "runtimes/runtime.h"

/* The frame of a method that is interpreted, from its Method to the return address. */
struct java_frame {
	__u64 method;
	__u64 last_stack;
	__u64 sender_stack; /* stack pointer of who has called, before the call */
	__u64 pointer;
	__u64 back;
};
#define JAVA_FRAME_BELOW 24 /* bytes of it below the frame pointer */

#define JAVA_FRAME_WORDS_MAX 8192
#define JAVA_STUB_FRAME_MAX  4096 /* bytes: a stub's frame pointer lies so near */

/* The code that was called from here is Java's, too. Returns enum profile_stop, 0: go on. */
static __always_inline __u32 java_go_on(struct unwind *u, const struct java_code *code, __u64 sp,
					__u64 bp, __u64 pc)
{
	if (sp <= u->sp || !java_code_has(code, pc))
		return PROFILE_STOP_READ;
	u->sp = sp;
	u->bp = bp;
	u->pc = pc;
	return 0;
}

/* The caller whose return address is at this place of the stack. */
static __always_inline __u32 java_return(struct unwind *u, const struct java_code *code, __u64 at,
					 __u64 bp)
{
	return java_go_on(u, code, at + sizeof(__u64), bp, user_read(at));
}

/* Where the interpreter begins a method rbp is still its caller's, which it is taken for then. */
static __always_inline __u32 java_interpreted(struct unwind *u, const struct java_code *code)
{
	struct java_frame frame;
	__u32 stop;

	if (u->bp < u->sp ||
	    bpf_probe_read_user(&frame, sizeof(frame), (const void *)(u->bp - JAVA_FRAME_BELOW)) ||
	    frame.sender_stack < u->bp + 2 * sizeof(__u64))
		return PROFILE_STOP_READ;
	stop = java_go_on(u, code, frame.sender_stack, frame.pointer, frame.back);
	if (!stop)
		frame_add_named(u->sample, frame.method,
				user_read(frame.method + code->const_method));
	return stop;
}

/* Do the instructions before this address call a blob? */
static __always_inline int java_has_called(const struct java_code *code, __u64 back, __u64 blob)
{
	__u64 called = java_called(back);

	return called && java_blob(code, called) == blob;
}

/*
 * Code that has no frame of a size that is told: stubs, and where calls are sent on. Only stubs may
 * keep rbp, which is their caller's until they do.
 */
static __always_inline __u32 java_stub(struct unwind *u, const struct java_code *code, __u64 blob)
{
	__u64 back;

	if (u->exact && java_code_has(code, user_read(u->sp)))
		return java_return(u, code, u->sp, u->bp);
	if (u->bp - u->sp >= JAVA_STUB_FRAME_MAX || !java_is_stub(user_read(blob + code->name)))
		return PROFILE_STOP_READ;
	back = user_read(u->bp + sizeof(back));
	if (u->exact && !java_has_called(code, back, blob))
		return PROFILE_STOP_READ;
	return java_go_on(u, code, u->bp + 2 * sizeof(back), user_read(u->bp), back);
}

/* How much there is of the frame of the instruction that runs. */
static __always_inline __u32 java_edge(const struct unwind *u, const struct java_code *code,
				       __u64 blob, __u32 size)
{
	__s16 complete = (__s16)user_read(blob + code->frame_complete);

	if (!u->exact)
		return JAVA_EDGE_FRAME;
	if (complete > 0 && u->pc - java_code_begin(code, blob) < (__u64)complete)
		return java_edge_made(u->pc, (size - 1) * sizeof(__u64));
	return java_edge_given(u->pc);
}

/* Whatever has a frame of known size; below its return address rbp is saved. */
static __always_inline __u32 java_framed(struct unwind *u, const struct java_code *code, __u64 blob,
					 __u32 size)
{
	__u64 back = u->sp + (__u64)(size - 1) * sizeof(__u64);

	/* C2 pushes a word while it compares strings. */
	if (u->exact && !java_code_has(code, user_read(back)))
		back += sizeof(__u64);
	switch (java_edge(u, code, blob, size)) {
	case JAVA_EDGE_NOTHING:
		return java_return(u, code, u->sp, u->bp);
	case JAVA_EDGE_POINTER:
		return java_return(u, code, u->sp + sizeof(__u64), user_read(u->sp));
	case JAVA_EDGE_FRAME:
		return java_return(u, code, back, user_read(back - sizeof(__u64)));
	default:
		return PROFILE_STOP_READ;
	}
}

static __always_inline void java_add(struct unwind *u, const struct java_code *code, __u64 blob)
{
	__u64 name = user_read(blob + code->name), method;

	if (!java_is_method(name)) {
		frame_add_named(u->sample, blob | JAVA_PAIR_BLOB, name);
		return;
	}
	if (!u->exact && code->scopes.compilation && java_is_compiled(name)) {
		frame_add_named(u->sample, blob | JAVA_PAIR_CALL,
				user_read(blob + code->scopes.compilation) << JAVA_CALL_SHIFT |
				    (__u32)(u->pc - blob));
		return;
	}
	method = user_read(blob + code->method);
	frame_add_named(u->sample, method, user_read(method + code->const_method));
}

static __always_inline __u32 java_compiled(struct unwind *u, const struct java_code *code)
{
	__u64 blob = java_blob(code, u->exact ? u->pc : u->pc - 1);
	__u32 size;

	if (!blob)
		return PROFILE_STOP_MAPPING;
	java_add(u, code, blob);
	if (!u->exact && u->pc == code->call_return)
		return unwind_by_pointer(u);
	size = (__u32)user_read(blob + code->frame_size);
	if (size - 2 < JAVA_FRAME_WORDS_MAX)
		return java_framed(u, code, blob, size);
	return java_stub(u, code, blob);
}

/* See hook_unwind(). */
static __always_inline int java_unwind(struct unwind *u, const struct runtime_compiled *compiled)
{
	const struct java_code *code = &compiled->java;

	if (!java_code_has(code, u->pc))
		return 0;
	u->sample->named_kind = RUNTIME_JAVA;
	u->stop = u->pc - code->interpreter < code->interpreter_size ? java_interpreted(u, code)
								     : java_compiled(u, code);
	u->exact = 0;
	return 1;
}

#endif
