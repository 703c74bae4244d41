/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draining: nothing new is edited, and when there is no connection left whose numbers are shifted,
 * everything is detached. Switching editing on again ends it.
 */
#ifndef CTXPROP_DRAIN_H
#define CTXPROP_DRAIN_H

#include <stdbool.h>

#include "control/server.h"
#include "daemon/sites.h"
#include "load/engine.h"

struct drain {
	struct sites *sites;
	const struct engine *engine;
	const struct control_server *server; /* tells how far it has come */
	bool on;
	bool empty; /* nothing was shifted when last counted */
	__u64 next_ns;
};

/* Begin; once more is no error. 0 or -errno. */
int drain_begin(struct drain *drain);

/* Do what is due. Returns the milliseconds until there is more to do, -1: none. */
int drain_do(struct drain *drain, bool *ret_done);

/* No connection needs the programs any more: detach everything. 0 or -errno, which was logged. */
int drain_finish(struct drain *drain);

#endif
