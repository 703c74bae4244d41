/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP server of the daemon: metrics, health, an API and a page to look at requests. It only
 * reads; it has threads of its own, which the daemon's loop never waits for.
 */
#ifndef CTXPROP_WEB_SERVER_H
#define CTXPROP_WEB_SERVER_H

#include <stdbool.h>
#include <jansson.h>

#include "web/hosts.h"
#include "web/listen.h"
#include "web/metrics_page.h"

/* Where the rules in force are read from, by any thread. */
struct policy_source {
	json_t *(*rules)(void *data); /* an array, a new reference; NULL: it cannot be read */
	void *data;
};

struct web_options {
	struct web_address address;
	struct web_hosts hosts;
	struct metrics_sources metrics;
	struct policy_source policy;
	const char *store; /* file; NULL: there is none */
	bool shows_traces; /* the page and the API, too: paths, hosts and addresses of requests */
};

struct web;

/*
 * Begin to answer; what the options point at outlives the server. Its threads have the rights that
 * the caller has by now. 0 or -errno.
 */
int web_start(const struct web_options *options, struct web **ret_web);

/* Answer no more, and free everything. NULL is allowed. */
void web_stop(struct web *web);

#endif
