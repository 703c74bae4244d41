/* SPDX-License-Identifier: Apache-2.0 */
/* Pins of network namespaces that are gone. */
#ifndef CTXPROP_STALE_H
#define CTXPROP_STALE_H

#include "pins/pins.h"

/*
 * Remove the pins of namespaces that no longer exist: nobody holds their lock, and the link of
 * their loopback device is dead or no process and no name leads to the namespace. In doubt they
 * stay. Must be called while the process has one thread. Returns how many were removed, or -errno.
 */
int stale_remove(const struct pins *own);

#endif
