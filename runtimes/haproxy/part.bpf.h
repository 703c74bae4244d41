/* SPDX-License-Identifier: GPL-2.0-only */
/* HAProxy's streams, for those who ask while one may not run. */
#ifndef CTXPROP_RUNTIMES_HAPROXY_PART_BPF_H
#define CTXPROP_RUNTIMES_HAPROXY_PART_BPF_H

#include "runtimes/haproxy/stream.bpf.h"
#include "who/who.h"

static __always_inline enum who_what haproxy_part(const struct runtime *runtime,
						  const struct worker_key *key)
{
	return WHO_STREAM;
}

/* What is known of it, whether it runs or not. */
static __always_inline struct named haproxy_part_works_on(const struct runtime *runtime,
							  const struct worker_key *key)
{
	const struct stream *stream = stream_lookup(key->tgid, key->context);

	if (!stream || rule_denies(key->tgid, TASK_RULE_STREAM))
		return (struct named){};
	return (struct named){.request = stream->request};
}

#endif
