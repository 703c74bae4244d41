/* SPDX-License-Identifier: Apache-2.0 */
/* Which devices the programs stand at, kept in step with the devices that there are. */
#ifndef CTXPROP_DEVICES_H
#define CTXPROP_DEVICES_H

#include <stdbool.h>
#include <stddef.h>

#include "load/attach.h"

struct devices;

/*
 * Attach to every device that is up, replace the programs on those that have some of the layer,
 * and watch for changes. Logs what happens to each. 0 or -errno. The attacher must outlive it.
 */
int devices_open(const struct attacher *attacher, struct devices **ret_devices);

/* The descriptor to poll for input, and what to call then. 0 or -errno. */
int devices_fd(const struct devices *devices);
int devices_update(struct devices *devices);

/* How many devices have the programs. */
size_t devices_attached(const struct devices *devices);

/* Could some device not be given the new programs, though it has old ones? */
bool devices_left_behind(const struct devices *devices);

/* Frees the table; the programs stay where they are. NULL is allowed. */
void devices_close(struct devices *devices);

#endif
