/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a process that is an input, instead of that of inspect/process_memory.c. */
#ifndef CTXPROP_FUZZ_MEMORY_H
#define CTXPROP_FUZZ_MEMORY_H

#include <stddef.h>
#include <linux/types.h>

/*
 * The bytes are at every multiple of this below MEMORY_END, with zeros behind them, so that
 * whatever is taken for an address mostly leads somewhere.
 */
#define MEMORY_WINDOW 4096
#define MEMORY_END    (1ULL << 47) /* from there on nothing can be read */

struct memory {
	const __u8 *bytes;
	size_t size;
	unsigned int reads, reads_max; /* one more ends the program */
};

extern struct memory memory;

#endif
