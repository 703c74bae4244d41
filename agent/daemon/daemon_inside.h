/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of daemon.h share: what is loaded (daemon_load.c), the start (daemon_start.c), and
 * the loop behind both (daemon.c).
 */
#ifndef CTXPROP_DAEMON_INSIDE_H
#define CTXPROP_DAEMON_INSIDE_H

#include <stdbool.h>

#include "daemon/drain.h"
#include "daemon/flow_log.h"
#include "daemon/follower.h"
#include "daemon/options.h"
#include "daemon/policies.h"
#include "daemon/requests.h"
#include "daemon/sites.h"
#include "daemon/traces.h"
#include "daemon/upkeep.h"
#include "daemon/watchdog.h"
#include "load/engine.h"
#include "pins/pins.h"
#include "profile/keep/recorder_process.h"

/* Everything that a running daemon holds. */
struct daemon {
	struct pins pins;
	__u64 cookie;
	int lock_fd, signal_fd;
	struct engine *engine;
	struct engine_origin origin;
	struct sites *sites;
	struct watchdog watchdog;
	struct upkeep upkeep;
	bool memory_is_short;      /* nothing is loaded that nobody needs yet */
	bool follows;              /* requests, by the node's probes */
	struct follower *follower; /* NULL: programs are not looked at */
	struct policies policies;
	struct requests requests;
	struct drain drain;
	struct traces traces;
	struct flow_log *flow_log; /* NULL: not at debug level */
	struct recorder_process recorder;
	bool drained;
};

/* Log what failed and hand the error on. */
int daemon_failed(const char *what, int err);

/*
 * Load the packet programs and the probes, over the node's maps, and do `then` as soon as the
 * former are loaded. 0; -ECANCELED: told to end meanwhile; or -errno, which was logged, also by
 * `then`.
 */
int daemon_load(struct daemon *daemon, const struct options *options,
		int (*then)(struct daemon *daemon, const struct options *options));

/*
 * Everything before the loop: signals, rules, what is loaded and attached. 0; -ECANCELED: told to
 * end meanwhile; or -errno, which was logged. What `daemon` holds then is to be freed in any case.
 */
int daemon_start(struct daemon *daemon, const struct options *options);

#endif
