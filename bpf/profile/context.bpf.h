/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The request that a thread works on, and its labels. Ids come from the first source that has any,
 * in the order of enum profile_source; labels come from all sources. The verifier removes the code
 * of a source that is not wanted, since `wanted_sources` is read-only data.
 */
#ifndef CTXPROP_PROFILE_CONTEXT_BPF_H
#define CTXPROP_PROFILE_CONTEXT_BPF_H

#include "engine/traces.h"
#include "probes/ask.bpf.h"
#include "profile/context_elastic.bpf.h"
#include "profile/context_otel.bpf.h"
#include "profile/labels_custom.bpf.h"
#include "profile/labels_registered.bpf.h"
#include "runtimes/go/labels.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PROFILE_PROCESSES);
	__type(key, __u32); /* tgid */
	__type(value, struct profile_thread_data);
} profile_threads SEC(".maps");

static __always_inline int context_wants(enum profile_source source)
{
	return (wanted_sources & (1U << source)) != 0;
}

/* What user space has found out about threads of the sample's process; NULL: nothing. */
static __always_inline const struct profile_thread_data *
context_data(const struct profile_sample *s)
{
	const struct profile_thread_data *data;

	if (!wanted_sources)
		return NULL;
	data = bpf_map_lookup_elem(&profile_threads, &s->tgid);
	return data && data->life == s->life ? data : NULL;
}

static __always_inline int ids_are_equal(const __u8 *a, const __u8 *b, __u32 words)
{
	__u64 first = 0, second = 0, differ = 0;

	for (__u32 i = 0; i < words; i++) {
		__builtin_memcpy(&first, a + 8 * i, 8);
		__builtin_memcpy(&second, b + 8 * i, 8);
		differ |= first ^ second;
	}
	return !differ;
}

static __always_inline int id_is_zero(const __u8 *id, __u32 words)
{
	__u64 word = 0, any = 0;

	for (__u32 i = 0; i < words; i++) {
		__builtin_memcpy(&word, id + 8 * i, 8);
		any |= word;
	}
	return !any;
}

/*
 * Take the ids of one source; zeros are none. If the sample has ids already these stay, and another
 * trace is counted as a conflict.
 */
static __always_inline void context_ids(struct profile_sample *s, __u8 source,
					const __u8 trace_id[16], const __u8 span_id[8])
{
	if (id_is_zero(trace_id, 2) || id_is_zero(span_id, 1))
		return;
	if (s->context_source) {
		s->context_conflict |= !ids_are_equal(s->trace_id, trace_id, 2);
		return;
	}
	s->context_source = source;
	__builtin_memcpy(s->trace_id, trace_id, sizeof(s->trace_id));
	__builtin_memcpy(s->span_id, span_id, sizeof(s->span_id));
}

/* Take the ids of a request. Within one trace, `span` is the span that the store knows. */
static __always_inline void context_of_request(struct profile_sample *s, __u8 source,
					       const struct traces_ctx *shown, const __u8 span[8])
{
	if (!s->context_source || ids_are_equal(s->trace_id, shown->trace_id, 2)) {
		__builtin_memcpy(s->request_span, span, sizeof(s->request_span));
		s->followed = source == PROFILE_SOURCE_ENGINE;
	}
	context_ids(s, source, shown->trace_id, shown->span_id);
}

/*
 * Take what the engine says of a process that it follows. For threads of other processes take what
 * programs have published in traces_ctx_v1 themselves.
 */
static __always_inline void context_of_work(struct profile_sample *s, const struct work_told *told)
{
	const __u64 thread = traces_ctx_key(s->tgid, s->tid);
	const struct traces_ctx *others;

	s->evidence = told->evidence;
	s->veto = told->veto;
	s->serves = told->serves;
	if (told->request)
		context_of_request(s, PROFILE_SOURCE_ENGINE, &told->shown, told->span);
	if (told->serves)
		return;
	others = bpf_map_lookup_elem(&traces_ctx_v1, &thread);
	if (others)
		context_of_request(s, PROFILE_SOURCE_TRACES, others, others->span_id);
}

/* Each source in a function of its own, so that their records share the same stack. */
static __always_inline void context_of_otel(struct profile_sample *s,
					    const struct profile_thread_data *data, __u64 thread)
{
	struct otel_record record;

	if (otel_record(data, thread, &record))
		context_ids(s, PROFILE_SOURCE_OTEL, record.trace_id, record.span_id);
}

static __always_inline void context_of_elastic(struct profile_sample *s,
					       const struct profile_thread_data *data, __u64 thread)
{
	struct elastic_record record;

	if (elastic_record(data, thread, &record))
		context_ids(s, PROFILE_SOURCE_ELASTIC, record.trace_id, record.span_id);
}

static __always_inline void context_of_program(struct profile_sample *s,
					       const struct profile_thread_data *data, __u64 thread)
{
	if (context_wants(PROFILE_SOURCE_OTEL))
		context_of_otel(s, data, thread);
	if (context_wants(PROFILE_SOURCE_ELASTIC))
		context_of_elastic(s, data, thread);
	__builtin_memcpy(s->request_span, s->span_id, sizeof(s->request_span));
}

/*
 * Fill in the ids of the sample, of which tgid, tid and life are set. `data`: as context_data() has
 * said; `told`: as work_ask() has.
 */
static __always_inline void context_take(struct profile_sample *s,
					 const struct profile_thread_data *data,
					 const struct work_told *told)
{
	s->context_source = s->context_conflict = s->followed = 0;
	__builtin_memset(s->trace_id, 0, sizeof(s->trace_id));
	__builtin_memset(s->span_id, 0, sizeof(s->span_id));
	__builtin_memset(s->request_span, 0, sizeof(s->request_span));
	if (data)
		context_of_program(s, data, user_thread_pointer());
	context_of_work(s, told);
}

/* Add the labels of the thread, behind the stack. */
static __always_inline void context_labels(struct profile_sample *s,
					   const struct profile_thread_data *data)
{
	__u64 thread;

	s->label_count = s->labels_left_out = 0;
	if (!data)
		return;
	thread = user_thread_pointer();
	if (context_wants(PROFILE_SOURCE_OTEL))
		otel_labels(s, data, thread);
	if (context_wants(PROFILE_SOURCE_GO))
		go_labels(s, data, thread);
	if (context_wants(PROFILE_SOURCE_CUSTOM))
		custom_labels(s, data, thread);
	if (context_wants(PROFILE_SOURCE_REGISTERED))
		registered_labels(s, data, thread);
}

#endif
