/* SPDX-License-Identifier: Apache-2.0 */
/* Who has reached his share of one of the node's tables (bpf/engine/share.h). */
#ifndef CTXPROP_NODE_SHARES_H
#define CTXPROP_NODE_SHARES_H

#include <linux/types.h>

#include "engine/share.h"

/* `tgid` 0: the table was full. `times`: so often there was no room, since the first time. */
typedef void (*node_shares_visit)(const struct share_reached *reached, __u64 times, void *data);

/* Visit all. 0; -ENOENT where nothing is followed; or -errno. */
int node_shares_each(node_shares_visit visit, void *data);

/* What a table has entries for, for people. */
const char *node_shares_table(__u32 table);

#endif
