/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The methods and blocks of Ruby that the current thread is at, as pairs of words behind the other
 * frames of a sample (sample.h). Functions in C have frames of Ruby, too; they are left out, for
 * the machine's stack has them.
 */
#ifndef CTXPROP_RUNTIMES_RUBY_SAMPLE_BPF_H
#define CTXPROP_RUNTIMES_RUBY_SAMPLE_BPF_H

#include "profile/named.bpf.h"
#include "runtimes/ruby/method.bpf.h"
#include "runtimes/ruby/state.bpf.h"

/* Words of rb_control_frame_t. */
#define RUBY_FRAME_WORDS 5
#define RUBY_WORD_PC     0
#define RUBY_WORD_CODE   (RUBY_FRAME_CODE / WORD)
#define RUBY_WORD_LOCALS (RUBY_FRAME_LOCALS / WORD)

/* What stands where the local variables do (enum vm_frame_env_flags, Ruby 2.7 to 3.4). */
#define RUBY_FRAME_KIND  0x7fff0001
#define RUBY_FRAME_DUMMY 0x79990001 /* a thread's first frame: nothing runs in it */
#define RUBY_FRAME_OF_C  0x0080     /* VM_FRAME_FLAG_CFRAME */
#define RUBY_FRAME_ENTRY 0x0020     /* VM_FRAME_FLAG_FINISH: C has called the interpreter for it */

#define RUBY_SAMPLE_STEPS (2 * PROFILE_NAMED_MAX) /* functions in C are as many again, at most */

/* From the innermost frame outwards. */
struct ruby_sample {
	struct profile_sample *sample;
	__u64 frame, end; /* they are an array: where it ends */
	__u32 size;       /* of a frame, in bytes */
};

/* 0: it cannot be read. */
VERIFIED_ALONE __u64 ruby_check_of(__u64 code)
{
	__u64 word[RUBY_BODY_WORDS], body = user_read(code + RUBY_CODE_BODY), check = body;

	if (!body || !user_words(body, word, RUBY_BODY_WORDS))
		return 0;
#pragma clang loop unroll(full) /* the verifier of 6.1 does not count what lies on the stack */
	for (int i = 0; i < RUBY_BODY_WORDS; i++)
		check = ruby_check_add(check, word[i]);
	return check;
}

/*
 * A frame. Where a library's first function runs, and nothing of Ruby does, there is one without an
 * instruction. Returns whether it could be read.
 */
static __always_inline int ruby_take(struct profile_sample *s, const __u64 *word)
{
	struct ruby_named named = {.code = word[RUBY_WORD_CODE]};
	__u64 flags;

	if (!named.code || !word[RUBY_WORD_PC])
		return 1;
	if (!user_words(word[RUBY_WORD_LOCALS], &flags, 1))
		return 0;
	if (flags & RUBY_FRAME_OF_C || (flags & RUBY_FRAME_KIND) == RUBY_FRAME_DUMMY)
		return 1;
	named.check = ruby_check_of(named.code);
	ruby_add_owner(&named, word[RUBY_WORD_LOCALS], s->named_layout);
	named_add(s, ruby_first_word(&named), ruby_second_word(&named));
	if (flags & RUBY_FRAME_ENTRY)
		named_mark_entry(s);
	return 1;
}

/* As a callback of bpf_loop(). */
static long ruby_step(__u32 i, struct ruby_sample *walk)
{
	__u64 word[RUBY_FRAME_WORDS];

	if (walk->frame >= walk->end || walk->sample->named_count >= PROFILE_NAMED_MAX ||
	    !user_words(walk->frame, word, RUBY_FRAME_WORDS) || !ruby_take(walk->sample, word))
		return 1;
	walk->frame += walk->size;
	return 0;
}

/* Fill in what the current thread of a process of Ruby is at: all of it, or nothing. */
static __always_inline void ruby_stack_take(struct profile_sample *s, const struct runtime *runtime)
{
	__u64 context = ruby_context(runtime), stack = user_read(context + RUBY_CONTEXT_STACK);
	struct ruby_sample walk = {.sample = s};

	if (!context || !stack || runtime->ruby.code_layout == RUBY_CODE_NONE)
		return;
	walk.frame = user_read(context + RUBY_CONTEXT_FRAME);
	walk.end = stack + user_read(context + RUBY_CONTEXT_SIZE) * WORD;
	walk.size =
	    runtime->ruby.code_layout == RUBY_CODE_3_1 ? RUBY_FRAME_LARGE : RUBY_FRAME_SMALL;
	s->named_kind = RUNTIME_RUBY;
	s->named_layout = (__u8)runtime->ruby.code_layout;
	bpf_loop(RUBY_SAMPLE_STEPS, ruby_step, &walk, 0);
	if (walk.frame != walk.end)
		s->named_count = 0;
}

#endif
