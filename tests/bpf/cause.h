/* SPDX-License-Identifier: Apache-2.0 */
/* What the probes would say about a request that is sent by a real socket. */
#ifndef CTXPROP_TEST_CAUSE_H
#define CTXPROP_TEST_CAUSE_H

#include "conn.h"

/* Trace ids of children end with the number of their cause, which is not 0. */
#define CAUSE_TRACE "00000000000000000000000b"

/*
 * What begins with byte `seq`, and is sent by the wire of `c`, belongs to request `number`. It came
 * with this tracestate, if it is not NULL. Returns the length of the line that goes with it.
 */
size_t cause_say(const struct conn *c, uint32_t seq, uint32_t number, const char *tracestate);

/* Forget all that was said of what the wire of `c` sends. */
void cause_forget(const struct conn *c);

/* May what is read from the wire of `c` be for several requests, as the packet programs have seen?
 */
int cause_is_shared_now(const struct conn *c);

/* The request is over: its tracestate is gone. */
void cause_end(const struct conn *c, uint32_t number);

/* How many tracestates are kept for edits in flight, of all flows. */
size_t cause_kept(const struct conn *c);

#endif
