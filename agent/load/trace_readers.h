/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who reads traces_ctx_v1: BPF programs that use the map and are not ours. Ours, of whatever build,
 * are told by the names of the other maps that they use. A process that has only opened the map
 * cannot be seen, nor a program that has it in a map of maps.
 */
#ifndef CTXPROP_TRACE_READERS_H
#define CTXPROP_TRACE_READERS_H

#include "record/trace_readers.h"

struct trace_readers;

/* Needs the rights that probes need. 0 or -errno. */
int trace_readers_open(struct trace_readers **ret_readers);
void trace_readers_close(struct trace_readers *readers);

/* Look at all programs. 1 and one that reads it; 0: none does; or -errno. */
int trace_readers_look(struct trace_readers *readers, struct trace_reader *ret_reader);

#endif
