/* SPDX-License-Identifier: Apache-2.0 */
/* Code that V8 has optimised, in the memory of another process: where it is, and what is with it. */
#ifndef CTXPROP_RUNTIMES_NODE_CODE_OBJECT_H
#define CTXPROP_RUNTIMES_NODE_CODE_OBJECT_H

#include <stdbool.h>
#include <linux/types.h>

#include "runtimes/node/code_layout.h"

#define NODE_POINT_NONE (-1)

struct node_object {
	enum node_version version;
	__u64 start;    /* address of the first instruction */
	__u32 size;     /* bytes of instructions; other data is behind them */
	__u32 metadata; /* bytes of that */
	bool maglev;    /* by this compiler */
	__u64 deopt;    /* its DeoptimizationData */
	__u64 info;     /* the SharedFunctionInfo whose code it is */
};

/* Find the code that has an instruction. Returns whether there is such, of an optimised function. */
bool node_object_find(int memory, const struct node_code *code, __u64 pc, struct node_object *ret);

/*
 * The number of the point from which the function is gone on with by other code if that must be
 * done when the call returns that was made before `place` (bytes from the start): there V8 knows
 * which functions it is in. NODE_POINT_NONE: there is no such call, or point.
 */
int node_object_point(int memory, const struct node_object *object, __u32 place);

/* Types that objects beside the code have, and where in DeoptimizationData what stands. */
struct node_deopt {
	__u16 array, bytes, literals;
	__u8 translations, literal_array, info, points; /* elements */
	bool info_is_wrapped;
};

const struct node_deopt *node_deopt_of(enum node_version version);

/* An element of an array; 0: it has none of that number, or is of another type. */
__u64 node_element(int memory, __u64 array, __u16 type, __u32 number);

/* The number of elements, or of bytes; 0: it is of another type. */
__u32 node_length(int memory, __u64 array, __u16 type);

#endif
