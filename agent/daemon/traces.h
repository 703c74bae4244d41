/* SPDX-License-Identifier: Apache-2.0 */
/* Spans, metrics and the page: what the options ask for. */
#ifndef CTXPROP_TRACES_H
#define CTXPROP_TRACES_H

#include "daemon/losses.h"
#include "daemon/options.h"
#include "daemon/policies.h"
#include "kubelet/kubelet.h"
#include "load/engine.h"
#include "profile/keep/recorder_counts.h"
#include "trace/metrics.h"
#include "trace/tracer.h"
#include "web/server.h"

/* Each NULL: it is not wanted, or cannot be had. */
struct traces {
	struct tracer *tracer;
	struct connections *connections;
	struct metrics *metrics;
	struct web *web;
	struct kubelet *kubelet;
	struct losses_source losses;
	const char *services;                   /* file with what services are called; NULL: none */
	const struct recorder_counts *recorded; /* of a continuous profile; the caller's */
};

/*
 * Begin to make spans, to hand them on and to answer by HTTP. What cannot be done is logged;
 * everything else goes on. The policies are shown until traces_end().
 */
void traces_begin(struct traces *traces, const struct engine *engine, struct policies *policies,
		  const struct options *options);

/* Read the file of services again; a bad one is logged, and what was read before stays. */
void traces_reload(struct traces *traces);

/* Stop all that traces_begin() has begun. */
void traces_end(struct traces *traces);

#endif
