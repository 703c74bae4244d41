/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Where Ruby has what is needed of the code of methods and blocks, for profiles: what sampler and
 * user space both know. From vm_core.h of Ruby 2.7 to 3.4: rb_iseq_t, struct rb_iseq_constant_body,
 * rb_iseq_location_t.
 */
#ifndef CTXPROP_RUNTIMES_RUBY_CODE_LAYOUT_H
#define CTXPROP_RUNTIMES_RUBY_CODE_LAYOUT_H

#include <linux/types.h>

/* struct runtime_ruby.code_layout, struct profile_sample.named_layout: the versions that differ. */
enum ruby_code_layout {
	RUBY_CODE_NONE,
	RUBY_CODE_3_0, /* and 2.7 */
	RUBY_CODE_3_1, /* frames are larger */
	RUBY_CODE_3_2, /* to 3.4: strings have their characters further behind */
	RUBY_CODE_LAYOUTS,
};

#define RUBY_CODE_BODY 16 /* rb_iseq_t.body */

/* Words of that body, as many as are held against those of another one. */
#define RUBY_BODY_WORDS 12
#define RUBY_BODY_PATH  8  /* location.pathobj: a String, or an Array that begins with one */
#define RUBY_BODY_LABEL 10 /* location.label: a String */
#define RUBY_BODY_LINE  11 /* location.first_lineno */

#define RUBY_CHECK_FACTOR 0x9e3779b97f4a7c15ULL /* odd: it loses nothing */

/* The check word: another piece of code at that address has another one. */
static inline __attribute__((always_inline)) __u64 ruby_check_add(__u64 check, __u64 word)
{
	check = (check ^ word) * RUBY_CHECK_FACTOR;
	return check ^ check >> 32;
}

#endif
