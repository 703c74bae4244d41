/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which netlink port the daemon of a network namespace listens at. Any user can take a port, so the
 * usual one may be taken: then the daemon has another, and says which in a text beside its pins,
 * where only root can write.
 */
#ifndef CTXPROP_CONTROL_PORT_H
#define CTXPROP_CONTROL_PORT_H

#include "pins/pins.h"

/* Keep the port that the daemon got, for commands to find. 0 or -errno. */
int control_port_keep(const struct pins *pins, __u32 port);

/* The port of the daemon that has these pins: the one that was kept, else the usual one. */
__u32 control_port_find(const struct pins *pins);

#endif
