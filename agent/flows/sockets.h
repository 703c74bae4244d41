/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CTXPROP_SOCKETS_H
#define CTXPROP_SOCKETS_H

#include "flows/liveness.h"

/* Is there a TCP socket, not a listening one, with this local (src) and remote (dst) address? */
enum liveness sockets_ask(const struct tuple *tuple);

/* The inode of that socket, in this network namespace; 0: there is none, or it cannot be told. */
__u64 sockets_inode(const struct tuple *tuple);

#endif
