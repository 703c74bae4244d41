/* SPDX-License-Identifier: Apache-2.0 */
/* Whether this process was told to end while it is busy: for work that takes long. */
#ifndef CTXPROP_STOP_H
#define CTXPROP_STOP_H

#include <stdbool.h>

/*
 * Does a SIGTERM or SIGINT wait for this process? Only where they are blocked, as in a daemon that
 * reads its signals from a descriptor; else false.
 */
bool stop_asked(void);

#endif
