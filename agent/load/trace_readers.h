/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds other readers of traces_ctx_v1: BPF programs that use the map and are not ours. Ours, of
 * any build, are recognised by the names of the other maps that they use. Not seen are processes
 * that have only opened the map, and programs that have it in a map of maps.
 */
#ifndef CTXPROP_TRACE_READERS_H
#define CTXPROP_TRACE_READERS_H

#include "record/trace_readers.h"

struct trace_readers;

/* Needs the rights that probes need. 0 or -errno. */
int trace_readers_open(struct trace_readers **ret_readers);
void trace_readers_close(struct trace_readers *readers);

/* What a look has seen. */
struct trace_readers_seen {
	struct trace_reader reader; /* of others; one that does not sample, if there is one */
	__u32 own_samplers[TRACE_READERS_SAMPLERS]; /* ids of programs; 0: none */
};

/* Look at all programs. 1: one of others reads it; 0: none does; or -errno. */
int trace_readers_look(struct trace_readers *readers, struct trace_readers_seen *ret_seen);

#endif
