/* SPDX-License-Identifier: Apache-2.0 */
/* What a message says of each endpoint: its samples, and how many requests it had (counts.h). */
#ifndef CTXPROP_PROFILE_MESSAGE_ENDPOINTS_H
#define CTXPROP_PROFILE_MESSAGE_ENDPOINTS_H

#include "profile/message/message.h"
#include "profile/message/servers.h"

/* How slow a request was compared with others of its endpoint that ended meanwhile. */
enum latency {
	LATENCY_UNKNOWN, /* it has not ended, or is not in the store */
	LATENCY_P50,     /* not above the median */
	LATENCY_P90,     /* above that, and not above the 90th percentile */
	LATENCY_P99,
	LATENCY_MAX, /* above the 99th percentile */
	LATENCIES,
};

/* "p50" and so on; empty: unknown. */
const char *latency_name(enum latency latency);

/* Parse such a name. 0 or -EINVAL. */
int latency_parse(const char *name, enum latency *ret);

#define ENDPOINT_NONE "(no request)" /* the name of that which is of no request */

/* Does the name of an endpoint fit a pattern of glob(7), with its method or by its route alone? */
bool endpoint_fits(const char *name, const char *pattern);

/* Is it the name under which samples of no request are counted? */
bool endpoint_is_none(const char *name);

struct message_endpoint {
	const char *service, *name; /* empty: not known */
	__u64 requests;             /* 0: it had none, or the message does not say */
	__u64 samples, cpu_ns;
	__u64 waited_ns[PROFILE_WAITS];
	__u64 bucket_ns[LATENCIES]; /* CPU by how slow the request was */
};

struct message_endpoints {
	struct message_endpoint *endpoint;
	size_t count;
	__u64 lost; /* samples */
	struct servers servers;
	struct arena texts;
};

/*
 * All endpoints with samples, waits or requests, by CPU time, the most first, and behind them what
 * belongs to no request. Of a message that
 * does not count samples, or the time on the CPU, these are 0. 0 or -ENOMEM.
 */
int message_endpoints(const struct message *message, struct message_endpoints *ret);
void message_endpoints_free(struct message_endpoints *endpoints);

/* Is it a profile that samples were taken for, and which names endpoints? */
bool message_has_endpoints(const struct message *message);

/* Are there waits in it, beside samples on the CPU? */
bool message_has_waits(const struct message *message);

/* Does a sample belong to a request? */
bool message_is_of_request(const struct message *message,
			   const Perftools__Profiles__Sample *sample);

/* How many samples do. */
size_t message_of_requests(const struct message *message);

/*
 * Does the profile have both samples that belong to a request and others? Only then some can be
 * left out.
 */
bool message_is_mixed(const struct message *message);

/* The samples that do, or all if none does; as message_part(). */
int message_requests(struct message *message, struct message *ret);

#endif
