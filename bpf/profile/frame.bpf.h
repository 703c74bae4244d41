/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of unwinding a user stack into a sample. Runtimes share it: they find the callers of
 * code that they have compiled. x86-64.
 */
#ifndef CTXPROP_PROFILE_FRAME_BPF_H
#define CTXPROP_PROFILE_FRAME_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "compat.bpf.h"
#include "profile/sample.h"
#include "within.bpf.h"

#define UNWIND_WORDS     64
#define FRAME_STACK_EVER (~0ULL) /* the end of the stack is not known beforehand */

/* Words of the user's stack that are read in one go. */
struct unwind_words {
	__u64 from;  /* the address of the first one */
	__u32 count; /* UNWIND_WORDS, or 0: none were read */
	__u32 padding;
	__u64 word[UNWIND_WORDS];
};

/* The unwinding of one stack. */
struct unwind {
	__u64 pc, sp, bp;
	__u64 end; /* the outermost frame has this address; FRAME_STACK_EVER: its rule tells */
	const struct profile_process *process;
	__u64 edition; /* of the process, when the unwinding began */
	struct profile_sample *sample;
	__u32 exact;                   /* pc is the instruction itself, not the one behind a call */
	__u32 stop;                    /* enum profile_stop; 0: it goes on */
	const struct profile_row *row; /* the rule for pc; NULL: none */
	const struct profile_mapping *mapping; /* if there is none: that has pc; NULL: none has */
	const struct runtime *runtime;         /* of the process, if it compiles code at run time */
};

/* Append a word to the user's part of the stack. */
static __always_inline void frame_add_word(struct profile_sample *s, __u64 word)
{
	__u32 at = s->kernel_count + s->user_count;

	if (!index_within(&at, PROFILE_SLOTS))
		return;
	s->frame[at] = word;
	s->user_count++;
}

/* Append a frame of machine code. */
static __always_inline void frame_add(struct profile_sample *s, __u64 address)
{
	frame_add_word(s, address & ~PROFILE_FRAME_NAMED);
}

/* Append a frame of code whose name the runtime knows. */
static __always_inline void frame_add_named(struct profile_sample *s, __u64 address, __u64 check)
{
	frame_add_word(s, address | PROFILE_FRAME_NAMED);
	frame_add_word(s, check);
}

/* Append the functions that may be inlined into the function that is appended next. */
static __always_inline void frame_add_inner(struct profile_sample *s, __u64 address, __u64 check)
{
	frame_add_named(s, address | PROFILE_FRAME_INNER, check);
}

/* The words that a CPU has read of a stack; used with interrupts off, as profile_scratch is. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct unwind_words);
} profile_words SEC(".maps");

/* Forget the words of the last stack. */
static __always_inline void unwind_forget_words(void)
{
	__u32 zero = 0;
	struct unwind_words *words = bpf_map_lookup_elem(&profile_words, &zero);

	if (words)
		words->count = 0;
}

/*
 * Read eight bytes of the user's stack. A caller's frame follows that of the function it has
 * called, so the next words are likely to have been read with these. Returns 0, or -1: they cannot
 * be read.
 */
VERIFIED_ALONE int unwind_read_word(__u64 address, __u64 *ret)
{
	__u32 zero = 0, at;
	struct unwind_words *words = bpf_map_lookup_elem(&profile_words, &zero);
	__u64 offset;

	if (!words || !ret)
		return -1;
	offset = address - words->from;
	at = (__u32)(offset / sizeof(words->word[0]));
	if (offset % sizeof(words->word[0]) || offset / sizeof(words->word[0]) >= words->count) {
		words->from = address;
		words->count = 0;
		if (bpf_probe_read_user(words->word, sizeof(words->word), (const void *)address))
			return bpf_probe_read_user(ret, sizeof(*ret), (const void *)address) ? -1
											     : 0;
		words->count = UNWIND_WORDS;
		at = 0;
	}
	if (!index_within(&at, UNWIND_WORDS))
		return -1;
	*ret = words->word[at];
	return 0;
}

/* The same, by way of a variable of its own, which the verifier needs. */
static __always_inline int unwind_read(__u64 address, __u64 *ret)
{
	__u64 word = 0;

	if (unwind_read_word(address, &word))
		return -1;
	*ret = word;
	return 0;
}

/* The caller of a function that keeps its frame pointer. Returns enum profile_stop, 0: go on. */
static __always_inline __u32 unwind_by_pointer(struct unwind *u)
{
	__u64 bp;

	if (!u->bp)
		return PROFILE_STOP_END;
	if (u->bp < u->sp || unwind_read(u->bp, &bp) || unwind_read(u->bp + 8, &u->pc))
		return PROFILE_STOP_READ;
	u->sp = u->bp + 16;
	u->bp = bp;
	return u->pc ? 0 : PROFILE_STOP_END;
}

#endif
