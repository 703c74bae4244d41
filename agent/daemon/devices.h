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
 * Those that `left` names (base/names.h) are left alone. Logs what happens to each, `place`
 * standing before its name. 0 or -errno. The attacher and that text must outlive it.
 */
int devices_open(const struct attacher *attacher, const char *place, const char *left,
		 struct devices **ret_devices);

/*
 * Leave a device alone from now on, or attach to it again. 0, -ENODEV: there is none of this name
 * now, -EMEDIUMTYPE: it is none to attach to, or -errno.
 */
int devices_leave(struct devices *devices, const char *name);
int devices_take_back(struct devices *devices, const char *name);

/* The names of those that are left alone, to begin with the next time. */
const char *devices_left(const struct devices *devices);

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
