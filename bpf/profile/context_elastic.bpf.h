/* SPDX-License-Identifier: GPL-2.0-only */
/* The thread context of Elastic APM's agents: a thread-local pointer to a packed record. */
#ifndef CTXPROP_PROFILE_CONTEXT_ELASTIC_BPF_H
#define CTXPROP_PROFILE_CONTEXT_ELASTIC_BPF_H

#include "profile/label.bpf.h"

struct elastic_record {
	__u16 minor;
	__u8 valid, present, flags;
	__u8 trace_id[16], span_id[8], transaction_id[8];
} __attribute__((packed));
_Static_assert(sizeof(struct elastic_record) == 37, "published layout");

/* Read the record of a thread. Returns whether there is one, and it has a trace. */
static __always_inline int elastic_record(const struct profile_thread_data *data, __u64 thread,
					  struct elastic_record *ret)
{
	__u64 address = thread_pointer_variable(&data->elastic, thread);

	return address && !bpf_probe_read_user(ret, sizeof(*ret), (const void *)address) &&
	       ret->valid == 1 && ret->present == 1;
}

#endif
