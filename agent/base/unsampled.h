/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of the agent's own must not make spans, which it would send by further requests: they
 * belong to traces that are not sampled.
 */
#ifndef CTXPROP_UNSAMPLED_H
#define CTXPROP_UNSAMPLED_H

/* "traceparent: " and a value, with the NUL. */
#define UNSAMPLED_SIZE (sizeof("traceparent: ") + 55)

/* A field line with new ids. */
void unsampled_draw(char ret_field[UNSAMPLED_SIZE]);

#endif
