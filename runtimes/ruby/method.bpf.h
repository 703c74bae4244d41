/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ruby: the class or module whose method a frame runs, or a block that stands in it. The words
 * before a frame's local variables say it, of a block those of the frames around it (vm_core.h,
 * method.h and internal/imemo.h of Ruby 2.7 to 3.4).
 */
#ifndef CTXPROP_RUNTIMES_RUBY_METHOD_BPF_H
#define CTXPROP_RUNTIMES_RUBY_METHOD_BPF_H

#include "compat.bpf.h"
#include "probes/user.bpf.h"
#include "runtimes/ruby/code_layout.h"

/* What stands before local variables, and with the first of these words. */
struct ruby_environment {
	__u64 method; /* an object that says whose it is */
	__u64 around; /* the local variables of what the block stands in, and two bits */
	__u64 flags;  /* enum vm_frame_env_flags */
};
#define RUBY_ENVIRONMENT_BELOW 16 /* bytes of it below the address of local variables */
#define RUBY_ENVIRONMENT_LOCAL 2  /* VM_ENV_FLAG_LOCAL: there is nothing around it */
#define RUBY_AROUND_BITS       3ULL
#define RUBY_AROUND_MAX        8 /* blocks, one in the other */

/* What the first word of an object of Ruby's own says (T_IMEMO and enum imemo_type). */
#define RUBY_OWN_MASK      0xf01f
#define RUBY_OWN_VARIABLES 0x201a /* imemo_svar: the next word is the object that is meant */
#define RUBY_OWN_METHOD    0x601a /* imemo_ment: rb_method_entry_t */

#define RUBY_METHOD_WORDS 5
#define RUBY_METHOD_OWNER 4 /* rb_method_entry_t.owner */

/* The object that says whose the method is that local variables are of; 0: it cannot be found. */
static __always_inline __u64 ruby_method_of(__u64 locals)
{
	struct ruby_environment environment;

#pragma clang loop unroll(full)
	for (__u32 i = 0; i < RUBY_AROUND_MAX; i++) {
		if (bpf_probe_read_user(&environment, sizeof(environment),
					(const void *)(locals - RUBY_ENVIRONMENT_BELOW)))
			return 0;
		if (environment.flags & RUBY_ENVIRONMENT_LOCAL)
			return environment.method;
		locals = environment.around & ~RUBY_AROUND_BITS;
	}
	return 0;
}

/* Whose method it is that a frame with these local variables is in; 0: nobody's, or not known. */
VERIFIED_ALONE __u64 ruby_owner(__u64 locals)
{
	__u64 object = ruby_method_of(locals), word[RUBY_METHOD_WORDS], owner;

	if (!object || !user_words(object, word, RUBY_METHOD_WORDS))
		return 0;
	if ((word[0] & RUBY_OWN_MASK) == RUBY_OWN_VARIABLES &&
	    !user_words(word[1], word, RUBY_METHOD_WORDS))
		return 0;
	owner = word[RUBY_METHOD_OWNER];
	if ((word[0] & RUBY_OWN_MASK) != RUBY_OWN_METHOD || owner >> RUBY_ADDRESS_BITS ||
	    owner & ((1 << RUBY_ALIGN_BITS) - 1))
		return 0;
	return owner;
}

/* A check word, and what tells a class or module from others; 0: it cannot be read. */
VERIFIED_ALONE __u64 ruby_owner_check(__u64 check, __u64 owner, __u32 layout)
{
	__u64 word[RUBY_OWNER_WORDS];

	if (!user_words(owner + RUBY_OWNER_FROM, word, RUBY_OWNER_WORDS))
		return 0;
#pragma clang loop unroll(full)
	for (int i = 0; i < RUBY_OWNER_WORDS; i++)
		check = ruby_check_add(check, word[i]);
	if (layout >= RUBY_CODE_3_3)
		check = ruby_check_add(check, user_read(owner + RUBY_OWNER_PATH));
	return check;
}

/* Adds whose method it is, where user space can tell what that is called. */
static __always_inline void ruby_add_owner(struct ruby_named *named, __u64 locals, __u32 layout)
{
	__u64 owner = layout == RUBY_CODE_3_2 ? 0 : ruby_owner(locals);
	__u64 check = owner ? ruby_owner_check(named->check, owner, layout) : 0;

	if (!check)
		return;
	named->owner = owner;
	named->check = check;
}

#endif
