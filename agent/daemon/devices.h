/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The devices of a network namespace to which the programs are attached, kept up to date as devices
 * come and go. All functions are to be called in that namespace.
 */
#ifndef CTXPROP_DEVICES_H
#define CTXPROP_DEVICES_H

#include <stdbool.h>
#include <stddef.h>

#include "load/attach.h"

struct devices;

/*
 * Attach to every device that is up, and replace the programs on those that have some of the layer.
 * Devices named in `left` (base/names.h) are left alone. Logs what happens to each, with `place`
 * before its name. 0 or -errno. The attacher and `place` must outlive it.
 */
int devices_open(const struct attacher *attacher, const char *place, const char *left,
		 struct devices **ret_devices);

/*
 * Leave a device alone from now on, or attach to it again. 0; -ENODEV: there is none of this name
 * now; -EMEDIUMTYPE: programs cannot be attached to it; or -errno.
 */
int devices_leave(struct devices *devices, const char *name);
int devices_take_back(struct devices *devices, const char *name);

/* The names of those that are left alone, for `left` of the next devices_open(). */
const char *devices_left(const struct devices *devices);

/* Handle a notification about a device. The caller must subscribe to them before devices_open(). */
void devices_tell(struct devices *devices, const struct nlmsghdr *message);

/* Notifications were lost: read all devices again. 0 or -errno. */
int devices_read(struct devices *devices);

/* How many devices have the programs. */
size_t devices_attached(const struct devices *devices);

/* Is there a device that has old programs, and could not be given the new ones? */
bool devices_left_behind(const struct devices *devices);

/* Frees the table; the programs stay where they are. NULL is allowed. */
void devices_close(struct devices *devices);

#endif
