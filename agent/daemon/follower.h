/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that inspects programs which take requests, and attaches probes to them (runtimes.h).
 * This can take seconds, which would keep the daemon's main loop from its other work.
 */
#ifndef CTXPROP_FOLLOWER_H
#define CTXPROP_FOLLOWER_H

#include <stdbool.h>

#include "runtime/publish.h"

struct follower;

/*
 * Start it, with the rights that the caller has now. `spares`: memory is short, so the probes of
 * runtimes are loaded only when they are needed. `http2`: streams of HTTP/2 are followed, too. 0 or
 * -errno.
 */
int follower_start(enum publish_mode publish, bool spares, bool http2,
		   struct follower **ret_follower);

/* Wait until all programs that are known to take requests were inspected, `limit_ms` at most. */
void follower_settle(struct follower *follower, unsigned int limit_ms);

/*
 * From now on, load programs before they are needed (runtimes_preload()). This takes one or two
 * seconds of CPU time, so it is begun when the daemon is ready.
 */
void follower_preload(struct follower *follower);

/* Stop the thread, wait for its end, and free everything. NULL is allowed. */
void follower_stop(struct follower *follower);

#endif
