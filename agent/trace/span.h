/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spans: one for each request that a program of this host has served or has sent, made of the two
 * records that the packet programs tell of it (bpf/records.h).
 */
#ifndef CTXPROP_SPAN_H
#define CTXPROP_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "records.h"
#include "trace/service.h"

/* As OTLP numbers them (opentelemetry/proto/trace/v1/trace.proto, SpanKind). */
enum span_kind { SPAN_SERVER = 2, SPAN_CLIENT = 3 };

#define SPAN_METHOD_MAX 16
#define SPAN_PATH_MAX   512
#define SPAN_ROUTE_MAX  256
#define SPAN_HOST_MAX   256
#define SPAN_AGENT_MAX  128

/* Texts are cut where they do not fit. Ids are bytes in the order of the wire. */
struct span {
	__u8 trace_id[16];
	__u64 span_id;
	__u64 parent_id; /* 0: none */
	enum span_kind kind;
	__u8 trace_flags;
	bool is_root;      /* its trace begins here */
	bool is_named;     /* client: its ids are on the wire, written by ctxprop */
	bool is_reused;    /* its connection has carried a request before */
	bool is_forwarded; /* client: forwarded, not sent by a socket of this network namespace */
	bool is_cut;       /* its head is known in part only */
	__u8 evidence;     /* client: enum evidence, enum veto, enum ctxprop_reason */
	__u8 veto;
	__u8 reason;
	enum record_outcome outcome;
	unsigned int status; /* 0: there was no response */
	__u64 start_ns;      /* CLOCK_BOOTTIME */
	__u64 taken_ns;      /* server: its first byte was read; 0: not known */
	__u64 first_ns;      /* its response began; 0: it did not */
	__u64 end_ns;
	__u64 cookie;                      /* of its socket; 0: not known */
	__u32 request_size, response_size; /* bytes, modulo 2^32 */
	__u32 position;             /* wire number of its first byte: the same at both ends */
	__u32 netns;                /* low half of its cookie */
	__u32 tgid, tid;            /* 0: not known */
	__u8 local[16], remote[16]; /* as in struct flow_key */
	__be16 local_port, remote_port;
	struct service service;       /* what runs there */
	char method[SPAN_METHOD_MAX]; /* empty: not known */
	char path[SPAN_PATH_MAX];     /* without query */
	char route[SPAN_ROUTE_MAX];   /* the path without its variable parts (routes.h) */
	char host[SPAN_HOST_MAX];     /* as the request names it */
	char agent[SPAN_AGENT_MAX];
};

/* Did it go wrong, by the conventions for HTTP of OpenTelemetry (stable, 1.23)? */
bool span_is_error(const struct span *span);

/* Is its trace sampled, by its flags? */
bool span_is_sampled(const struct span *span);

/* Why a call has its header and its cause, by the names of `ctxprop stats`. */
struct span_cause {
	const char *header, *evidence, *veto; /* NULL: nothing to say, as of what is served */
};
struct span_cause span_cause(const struct span *span);

/* How it ended, in a word: "answered". */
const char *span_outcome_name(enum record_outcome outcome);

/* "served" or "called", as the words of users. */
const char *span_kind_name(enum span_kind kind);

#endif
