/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What threads work on is shown in traces_ctx_v1 at the moments at which profilers of others sample
 * by a software clock (bpf/profile/moment.bpf.c), as long as this is open.
 */
#ifndef CTXPROP_MOMENTS_H
#define CTXPROP_MOMENTS_H

#include <linux/types.h>

#include "record/trace_readers.h"

struct moments;

/* Needs the rights that probes need, and the node's maps. 0 or -errno. */
int moments_open(struct moments **ret_moments);
void moments_close(struct moments *moments);

/* How many samples of others were met since then, whatever they were of. */
__u64 moments_met(const struct moments *moments);

/* These programs are ours (TRACE_READERS_SAMPLERS ids; 0: none): nothing is shown to them. */
void moments_leave_out(struct moments *moments, const __u32 *ids);

#endif
