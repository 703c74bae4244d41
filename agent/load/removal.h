/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking everything of ours out of the current network namespace, and what breaks by that. The
 * caller holds the lock of the pins.
 */
#ifndef CTXPROP_REMOVAL_H
#define CTXPROP_REMOVAL_H

#include "pins/pins.h"

/* What is known of the connections that would break. */
struct damage {
	unsigned long shifted; /* flows whose numbers are shifted */
	unsigned int unknown;  /* layers of another build, which cannot be read */
};

/*
 * Switch editing off in all layers of the namespace, or another flow might get an offset, and
 * count. 0 or -errno.
 */
int removal_assess(const struct pins *pins, struct damage *ret_damage);

/*
 * Remove programs, links, classifiers and pins. Devices that keep some are told to `complain`.
 * 0 or -errno.
 */
int removal_do(const struct pins *pins, void (*complain)(const char *device, int err));

/* Nothing is left on the node, if this was the last namespace: the probes go, too. 0 or -errno. */
int removal_finish(void);

#endif
