/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Where Ruby has what is needed of the code of methods and blocks, and of the classes that methods
 * are in, for profiles: what sampler and user space both know. From vm_core.h of Ruby 2.7 to 3.4
 * (rb_iseq_t, struct rb_iseq_constant_body, rb_iseq_location_t) and internal/class.h (struct
 * RClass, struct rb_classext_struct).
 */
#ifndef CTXPROP_RUNTIMES_RUBY_CODE_LAYOUT_H
#define CTXPROP_RUNTIMES_RUBY_CODE_LAYOUT_H

#include <linux/types.h>

/* struct runtime_ruby.code_layout, struct profile_sample.named_layout: the versions that differ. */
enum ruby_code_layout {
	RUBY_CODE_NONE,
	RUBY_CODE_3_0, /* and 2.7 */
	RUBY_CODE_3_1, /* frames are larger */
	RUBY_CODE_3_2, /* strings have their characters further behind; names of classes are not
			  known */
	RUBY_CODE_3_3, /* classes have their name in them */
	RUBY_CODE_3_4, /* what is a singleton class is told by another bit */
	RUBY_CODE_LAYOUTS,
};

#define RUBY_CODE_BODY 16 /* rb_iseq_t.body */

/* Words of that body, as many as are held against those of another one. */
#define RUBY_BODY_WORDS 12
#define RUBY_BODY_PATH  8 /* location.pathobj: a String, or an Array that begins with one */
#define RUBY_BODY_BASE                                                                             \
	9                  /* location.base_label: a String: the method's name, without "block in" \
			    */
#define RUBY_BODY_LABEL 10 /* location.label: a String */
#define RUBY_BODY_LINE  11 /* location.first_lineno */

/*
 * Words of a class or module that are held against those of another one: its class and what it
 * inherits from; and before 3.2 the address of more, and its number, since 3.3 its methods and
 * variables.
 */
#define RUBY_OWNER_FROM  8
#define RUBY_OWNER_WORDS 4
#define RUBY_OWNER_PATH  152 /* since 3.3, held against it, too: its name, a String */

#define RUBY_CHECK_FACTOR 0x9e3779b97f4a7c15ULL /* odd: it loses nothing */

/* The check word: another piece of code at that address has another one. */
static inline __attribute__((always_inline)) __u64 ruby_check_add(__u64 check, __u64 word)
{
	check = (check ^ word) * RUBY_CHECK_FACTOR;
	return check ^ check >> 32;
}

/* What a sample notes of a frame: it is packed into two words. Addresses are multiples of 8. */
struct ruby_named {
	__u64 code;  /* address of the code */
	__u64 owner; /* of the class or module whose method it is, or is in; 0: it is not known */
	__u64 check; /* of both, of which RUBY_CHECK_BITS are kept */
};

#define RUBY_CHECK_BITS   39
#define RUBY_CHECK_LOW    19 /* of these are in the first word, whose last bit is free */
#define RUBY_ADDRESS_BITS 47
#define RUBY_ALIGN_BITS   3
#define RUBY_PACKED_BITS  (RUBY_ADDRESS_BITS - RUBY_ALIGN_BITS)
#define RUBY_PACKED_MASK  ((1ULL << RUBY_PACKED_BITS) - 1)

static inline __attribute__((always_inline)) __u64 ruby_first_word(const struct ruby_named *named)
{
	const __u64 low = named->check & ((1ULL << RUBY_CHECK_LOW) - 1);

	return (named->code >> RUBY_ALIGN_BITS & RUBY_PACKED_MASK) | low << RUBY_PACKED_BITS;
}

static inline __attribute__((always_inline)) __u64 ruby_second_word(const struct ruby_named *named)
{
	return (named->owner >> RUBY_ALIGN_BITS & RUBY_PACKED_MASK) |
	       named->check >> RUBY_CHECK_LOW << RUBY_PACKED_BITS;
}

static inline struct ruby_named ruby_unpack(__u64 first, __u64 second)
{
	return (struct ruby_named){
	    .code = (first & RUBY_PACKED_MASK) << RUBY_ALIGN_BITS,
	    .owner = (second & RUBY_PACKED_MASK) << RUBY_ALIGN_BITS,
	    .check = first >> RUBY_PACKED_BITS | second >> RUBY_PACKED_BITS << RUBY_CHECK_LOW,
	};
}

/* Are the bits the same that are kept of check words? */
static inline int ruby_check_is(__u64 check, __u64 other)
{
	return !((check ^ other) & ((1ULL << RUBY_CHECK_BITS) - 1));
}

#endif
