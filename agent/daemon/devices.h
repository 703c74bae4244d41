/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which devices of a network namespace the programs stand at, kept in step with the devices that
 * there are. All is to be called in that namespace.
 */
#ifndef CTXPROP_DEVICES_H
#define CTXPROP_DEVICES_H

#include <stdbool.h>
#include <stddef.h>

#include "load/attach.h"

struct devices;

/*
 * Attach to every device that is up, and replace the programs on those that have some of the layer.
 * Logs what happens to each, `place` standing before its name. 0 or -errno. The attacher and the
 * text must outlive it.
 */
int devices_open(const struct attacher *attacher, const char *place, struct devices **ret_devices);

/* Something has happened to a device. The first such news must be heard before devices_open(). */
void devices_tell(struct devices *devices, const struct nlmsghdr *message);

/* News were lost: look at all devices. 0 or -errno. */
int devices_read(struct devices *devices);

/* How many devices have the programs. */
size_t devices_attached(const struct devices *devices);

/* Could some device not be given the new programs, though it has old ones? */
bool devices_left_behind(const struct devices *devices);

/* Frees the table; the programs stay where they are. NULL is allowed. */
void devices_close(struct devices *devices);

#endif
