/* SPDX-License-Identifier: GPL-2.0-only */
/* The thread context of OTEP 4947: a thread-local pointer to a record of ids and attributes. */
#ifndef CTXPROP_PROFILE_CONTEXT_OTEL_BPF_H
#define CTXPROP_PROFILE_CONTEXT_OTEL_BPF_H

#include "profile/label.bpf.h"

#define OTEL_VALID      1
#define OTEL_RECORD_MAX 640 /* bytes, with the attributes */

struct otel_record {
	__u8 trace_id[16], span_id[8];
	__u8 valid, trace_flags;
	__u16 attributes_size;
};
_Static_assert(sizeof(struct otel_record) == 28, "published layout");

/* The buffer into which attributes are read, one for each CPU. */
struct otel_attributes {
	struct profile_sample *sample;
	__u64 at, end;
};

/* Read the record of a thread. Returns its address; 0: there is none that is valid. */
static __always_inline __u64 otel_record(const struct profile_thread_data *data, __u64 thread,
					 struct otel_record *ret)
{
	__u64 address = thread_pointer_variable(&data->otel, thread);

	if (!address || bpf_probe_read_user(ret, sizeof(*ret), (const void *)address) ||
	    ret->valid != OTEL_VALID)
		return 0;
	return address;
}

/* One attribute: number of its key, size, value. As a callback of bpf_loop(). */
static long otel_attribute(__u32 i, struct otel_attributes *read)
{
	__u8 head[2];
	struct label_text value;

	if (read->at + sizeof(head) > read->end ||
	    bpf_probe_read_user(head, sizeof(head), (const void *)read->at))
		return 1;
	value = (struct label_text){read->at + sizeof(head), head[1]};
	if (value.address + value.size > read->end)
		return 1;
	label_add(read->sample, PROFILE_SOURCE_OTEL, head[0], (struct label_text){}, value);
	read->at = value.address + value.size;
	return 0;
}

static __always_inline void otel_labels(struct profile_sample *s,
					const struct profile_thread_data *data, __u64 thread)
{
	struct otel_attributes read = {.sample = s};
	struct otel_record record;
	__u64 address = otel_record(data, thread, &record);

	if (!address || sizeof(record) + record.attributes_size > OTEL_RECORD_MAX)
		return;
	read.at = address + sizeof(record);
	read.end = read.at + record.attributes_size;
	bpf_loop(PROFILE_LABELS_TAKEN + 1, otel_attribute, &read, 0);
}

#endif
