/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * What the sampler must know of a process to go through the code that its runtime has compiled.
 * User space finds it out when a sample has met such code.
 */
#ifndef CTXPROP_RUNTIMES_COMPILED_H
#define CTXPROP_RUNTIMES_COMPILED_H

#include "runtimes/java/code_layout.h"
#include "runtimes/node/code_layout.h"

/* Map `runtime_compiled`, by tgid. */
struct runtime_compiled {
	__u64 life; /* of the program that the process runs, as samples have it; 0: nothing is known
		     */
	union {
		struct java_code java;
		struct node_code node;
	};
};

#endif
