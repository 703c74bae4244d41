/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the sizes of the daemon's tables. */
#ifndef CTXPROP_TABLES_H
#define CTXPROP_TABLES_H

#include "daemon/options.h"
#include "load/sizes.h"

/*
 * Choose sizes by the options and the memory that there is, and log what differs from the usual. 0
 * or -errno.
 */
int tables_choose(const struct options *options, struct sizes *ret_sizes);

/* Log which tables were pinned before, and have other sizes. */
void tables_tell_adopted(const struct sizes *wanted, __u32 flows, __u32 halved);

#endif
