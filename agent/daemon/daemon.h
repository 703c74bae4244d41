/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon's life: start, run until a signal, leave. */
#ifndef CTXPROP_DAEMON_H
#define CTXPROP_DAEMON_H

#include "daemon/options.h"

/* Run in the current network namespace; logs all that happens. 0, or -errno after an error. */
int daemon_run(const struct options *options);

#endif
