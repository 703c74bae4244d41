/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides whether traces_ctx_v1 shows what runs on threads in turn (goroutines and the like). While
 * another profiler reads the map as it samples, it is shown at the moments of its samples, which
 * costs next to nothing. Otherwise it takes a probe at each switch, so it is shown only while
 * somebody reads the map in another way, or if that is always wanted.
 */
#ifndef CTXPROP_PUBLISH_H
#define CTXPROP_PUBLISH_H

#include <stdbool.h>
#include <linux/types.h>

#include "engine/node.h"
#include "load/moments.h"
#include "load/trace_readers.h"

enum publish_mode {
	PUBLISH_AUTO, /* while somebody reads it, and switches are not too frequent
			 (RUNTIME_CHANGES_MAX) */
	PUBLISH_ALWAYS,
	PUBLISH_NEVER,
};

struct publish {
	enum publish_mode mode;
	enum node_publish state;
	struct trace_readers *readers; /* NULL: readers are not looked for, or cannot be seen */
	struct trace_reader reader;    /* while somebody reads: one of them */
	struct moments *moments; /* NULL: nobody reads, or nothing can be shown in this way: */
	int moments_err;         /* -errno */
	__u64 met, sampled_ns;   /* samples; CLOCK_MONOTONIC: when there were others last */
	int err;                 /* while it is NODE_PUBLISH_BLIND: -errno */
	bool untold;             /* the node's map does not know the state yet */
	__u64 next_ns, read_ns;  /* CLOCK_MONOTONIC: of the next look; when one was seen last */
};

/* Begin, and look for the first time; `ret_publish->state` is never NODE_PUBLISH_UNTOLD then. */
void publish_open(enum publish_mode mode, struct publish *ret_publish);
void publish_close(struct publish *publish);

/* Look again if it is time. Returns whether the state has changed. */
bool publish_do(struct publish *publish);

/* Milliseconds until publish_do() has more to do; -1: never. */
int publish_due_ms(const struct publish *publish);

/* Is it to be shown at all times now, by probes? */
bool publish_shows(const struct publish *publish);

#endif
