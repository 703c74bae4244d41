/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * V8's frames of functions, and what leads from a function to its names: the sampler goes through
 * V8's code by this, and user space finds names by it. Offsets in bytes from an object's beginning,
 * but for those that say otherwise.
 */
#ifndef CTXPROP_RUNTIMES_NODE_CODE_LAYOUT_H
#define CTXPROP_RUNTIMES_NODE_CODE_LAYOUT_H

#include <linux/types.h>

struct node_code {
	/* V8's own code, which is in no unwind table, though in the file. */
	__u64 builtins;      /* address in the file, counted from the lowest that is loaded */
	__u32 builtins_size; /* bytes; 0: not known */
	/* Types of objects. */
	__u16 function; /* JSFunction; others follow (NODE_FUNCTIONS). 0: names are not known */
	__u16 info;     /* SharedFunctionInfo: what all functions of one text share */
	__u16 scope;    /* ScopeInfo */
	__u16 script;   /* Script */
	/* Offsets. */
	__u8 function_info; /* JSFunction: its SharedFunctionInfo */
	__u8 info_scope;    /* SharedFunctionInfo: its name (of V8's own functions), or ScopeInfo */
	__u8 info_script;   /* SharedFunctionInfo */
	__u8 info_parameters; /* SharedFunctionInfo: 16 bits, and as many that follow */
	__u8 script_name;     /* Script */
	__u8 scope_locals;    /* ScopeInfo: behind its fixed words */
	/* Of the flags of a ScopeInfo. */
	__u8 scope_smi;      /* 1: they are a Smi, 0: a number of 32 bits */
	__u8 scope_function; /* the kind of scope that a function has */
	/* Of functions that others were put into (inlined.h). */
	__u8 version;   /* enum node_version */
	__u16 bytecode; /* type: BytecodeArray */
};

/* Versions of V8 by what their optimised code has beside its instructions. */
enum node_version {
	NODE_V8_OTHER, /* not known */
	NODE_V8_10_2,
	NODE_V8_11_3,
	NODE_V8_12_4,
	NODE_V8_13_6,
	NODE_VERSIONS,
};

#define NODE_FUNCTIONS 32 /* types from JSFunction's on: constructors have their own */

/*
 * In the address of a pair that is of inlined functions (PROFILE_FRAME_INNER): it is that of the
 * instruction that runs, not of the one behind a call.
 */
#define NODE_PAIR_EXACT (1ULL << 60)

/* Machine code around that instruction, which tells it from another one that comes to lie there. */
#define NODE_AROUND_BEFORE 16 /* bytes */
#define NODE_AROUND_WORDS  4

#define NODE_CHECK_FACTOR 0x9e3779b97f4a7c15ULL /* odd: it loses nothing */

/*
 * The check word of a SharedFunctionInfo's address: what it consists of, which no other one has.
 * The garbage collector moves objects.
 */
static inline __u64 node_check(__u64 scope, __u64 script, __u32 parameters)
{
	return scope * NODE_CHECK_FACTOR + script * 0xc2b2ae3d27d4eb4fULL + parameters;
}

/*
 * The check word of such a pair: of the machine code, and of the function that it is the code of,
 * which is a SharedFunctionInfo with its own check word.
 */
static inline __attribute__((always_inline)) __u64
node_check_inner(const __u64 around[NODE_AROUND_WORDS], __u64 info, __u64 info_check)
{
	__u64 check = (info ^ info_check * NODE_CHECK_FACTOR) * NODE_CHECK_FACTOR;

	for (int i = 0; i < NODE_AROUND_WORDS; i++) {
		check = (check ^ around[i]) * NODE_CHECK_FACTOR;
		check ^= check >> 32;
	}
	return check;
}

#endif
