/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes and cgroups that have reached their share of a table of the node (bpf/engine/share.h).
 */
#ifndef CTXPROP_NODE_SHARES_H
#define CTXPROP_NODE_SHARES_H

#include <linux/types.h>

#include "engine/share.h"

/* `tgid` 0: the table was full. `times`: how often there was no room since the first time. */
typedef void (*node_shares_visit)(const struct share_reached *reached, __u64 times, void *data);

/* Visit all. 0; -ENOENT where nothing is followed; or -errno. */
int node_shares_each(node_shares_visit visit, void *data);

/* What the entries of a table are, for people. */
const char *node_shares_table(__u32 table);

#endif
