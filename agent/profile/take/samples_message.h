/* SPDX-License-Identifier: Apache-2.0 */
/* Samples as a message: what all else that is said or written of a profile is made of. */
#ifndef CTXPROP_PROFILE_TAKE_SAMPLES_MESSAGE_H
#define CTXPROP_PROFILE_TAKE_SAMPLES_MESSAGE_H

#include <stdbool.h>

#include "profile/message/message.h"
#include "profile/take/profiler.h"
#include "profile/take/requests.h"
#include "profile/take/samples.h"

struct samples_message_options {
	__s64 from_ns, duration_ns; /* since 1970 */
	unsigned int hz;
	bool off_cpu;    /* a third value of each sample, and samples of waits */
	bool ids;        /* label samples with trace_id and span_id, too */
	bool of_servers; /* samples of servers were taken also where they are of no request */
	__u64 lost;      /* samples that the sampler has lost */
};

/*
 * Make it, to be freed by message_free(); nothing that it is made of need outlive it. Samples have
 * the labels endpoint, service, process and pid; those of requests context_source, and when these
 * have ended status, latency_ms and latency_bucket; those of servers but of no request no_request;
 * those whose outer frames are missing stack; waits have wait ("blocked", "run queue"). Comments
 * say what share of the servers' samples belongs to no request, and how many requests the endpoints
 * had (counts.h). 0 or -ENOMEM.
 */
int samples_message(const struct samples *samples, const struct profiler *profiler,
		    struct requests *requests, const struct samples_message_options *options,
		    struct message *ret);

#endif
