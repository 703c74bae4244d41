/* SPDX-License-Identifier: Apache-2.0 */
/*
 * While this is open, traces_ctx_v1 shows what threads work on at the moments at which other
 * profilers sample by a software clock (bpf/profile/moment.bpf.c).
 */
#ifndef CTXPROP_MOMENTS_H
#define CTXPROP_MOMENTS_H

#include <linux/types.h>

#include "record/trace_readers.h"

struct moments;

/* Needs the rights that probes need, and the node's maps. 0 or -errno. */
int moments_open(struct moments **ret_moments);
void moments_close(struct moments *moments);

/* The number of samples of other profilers since then, of whatever programs. */
__u64 moments_met(const struct moments *moments);

/* Nothing is shown to these samplers, which are our own (TRACE_READERS_SAMPLERS ids; 0: none). */
void moments_leave_out(struct moments *moments, const __u32 *ids);

#endif
