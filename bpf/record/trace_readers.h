/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Which BPF programs have a map in use, of those that are not ours (trace_readers.bpf.c). */
#ifndef CTXPROP_RECORD_TRACE_READERS_H
#define CTXPROP_RECORD_TRACE_READERS_H

#include <linux/types.h>

#define TRACE_READER_NAME 16 /* BPF_OBJ_NAME_LEN */

struct trace_reader {
	__u32 id;                     /* of the program, as the kernel counts them */
	char name[TRACE_READER_NAME]; /* as it was loaded with; may be empty */
};

/*
 * A program is ours, of whatever build, if it uses so many maps besides that are called as ours
 * are.
 */
#define TRACE_READERS_OWN      2
#define TRACE_READERS_OWN_MAPS 64 /* names */

#endif
