/* SPDX-License-Identifier: Apache-2.0 */
/* Which unix sockets there are, by /proc/PID/net/unix. */
#ifndef CTXPROP_UNIX_NAMES_H
#define CTXPROP_UNIX_NAMES_H

#include <stdbool.h>
#include <linux/types.h>

/*
 * Does a line tell of a stream with a name that is listened at, or is connected, and is not that of
 * a service of the system's own?
 */
bool unix_names_match(const char *line);

/*
 * Is there such a socket in the process's network namespace? Connected ones count where their
 * clients are: sockets that were accepted have the listener's name, in the client's namespace.
 */
bool unix_names_near(__u32 tgid);

#endif
