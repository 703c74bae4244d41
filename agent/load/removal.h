/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removes everything of ours from the current network namespace, and tells which connections that
 * would break. The caller holds the lock of the pins.
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
 * Switch editing off in all layers of the namespace, so that no further flow gets an offset, and
 * count. 0 or -errno.
 */
int removal_assess(const struct pins *pins, struct damage *ret_damage);

/*
 * Remove programs, links, classifiers and pins. Devices that keep some are told to `complain`.
 * 0 or -errno.
 */
int removal_do(const struct pins *pins, void (*complain)(const char *device, int err));

/* If this was the last namespace, remove the probes of the node, too. 0 or -errno. */
int removal_finish(void);

#endif
