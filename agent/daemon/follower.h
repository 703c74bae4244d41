/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that looks at programs which take requests and attaches probes to them (runtimes.h).
 * Loading probes and looking into large programs takes up to seconds, in which the daemon's loop
 * has other things to do.
 */
#ifndef CTXPROP_FOLLOWER_H
#define CTXPROP_FOLLOWER_H

#include <stdbool.h>

#include "runtime/publish.h"

struct follower;

/*
 * Begin, with the rights that the caller has now. `spares`: memory is short, the probes of runtimes
 * are loaded only when they are needed. 0 or -errno.
 */
int follower_start(enum publish_mode publish, bool spares, struct follower **ret_follower);

/* Wait until all programs that are known to take requests have been looked at, or for so long. */
void follower_settle(struct follower *follower, unsigned int limit_ms);

/*
 * From now on: load what nobody needs yet (runtimes_preload()). That takes a second or two of a
 * processor, which others may need until the daemon is ready.
 */
void follower_preload(struct follower *follower);

/* Wait for what the thread is at, and free everything. NULL: nothing. */
void follower_stop(struct follower *follower);

#endif
