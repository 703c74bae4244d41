/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Which BPF programs have a map in use: those of others, and our samplers (trace_readers.bpf.c). */
#ifndef CTXPROP_RECORD_TRACE_READERS_H
#define CTXPROP_RECORD_TRACE_READERS_H

#include <linux/types.h>

#define TRACE_READER_NAME 16 /* BPF_OBJ_NAME_LEN */

struct trace_reader {
	__u32 id;     /* of the program, as the kernel counts them */
	__u8 own;     /* 1: it is ours, and samples */
	__u8 samples; /* 1: it runs with each sample of a perf event */
	__u8 reserved[2];
	char name[TRACE_READER_NAME]; /* as it was loaded with; may be empty */
};

/*
 * A program is ours, of whatever build, if it uses so many maps besides that are called as ours
 * are.
 */
#define TRACE_READERS_OWN      2
#define TRACE_READERS_OWN_MAPS 64 /* names */

/* So many samplers of ours are told apart from those of others. */
#define TRACE_READERS_SAMPLERS 8

#endif
