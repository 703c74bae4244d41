/* SPDX-License-Identifier: Apache-2.0 */
/* A profile as `go tool pprof` and everything that understands it reads it. */
#ifndef CTXPROP_PROFILE_PPROF_H
#define CTXPROP_PROFILE_PPROF_H

#include <stdbool.h>
#include <stdio.h>

#include "profile/filter.h"
#include "profile/names.h"

struct pprof_options {
	__s64 from_ns, duration_ns; /* since 1970 */
	unsigned int hz;
	bool off_cpu; /* a third value of each sample, and samples of waits */
	const struct filter *filter;
	bool ids; /* label samples with trace_id and span_id, too */
	bool
	    partial; /* only of some processes: how many requests there were says nothing of them */
	__u64 lost;  /* samples that are in none of it */
	const struct servers *servers; /* of all samples; NULL: not known */
};

/*
 * Write it, compressed. Samples have the labels endpoint, service, process and pid; those of
 * requests context_source, and when these have ended status, latency_ms and latency_bucket; those
 * of servers but of no request no_request; those whose outer frames are missing stack; waits have
 * wait ("blocked", "run queue"). Comments say what share of the servers' samples belongs to no
 * request, and how many requests the endpoints had, unless only samples of some of these are
 * written (counts.h). 0, -ENOMEM, or -EIO.
 */
int pprof_write(const struct samples *samples, const struct names *names, struct requests *requests,
		const struct pprof_options *options, FILE *out);

#endif
