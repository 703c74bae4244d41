/* SPDX-License-Identifier: Apache-2.0 */
/* How large tables the daemon makes. */
#ifndef CTXPROP_TABLES_H
#define CTXPROP_TABLES_H

#include "daemon/options.h"
#include "load/sizes.h"

/* Choose their sizes by the options and the memory that there is, and say what is not as usual. 0
 * or -errno. */
int tables_choose(const struct options *options, struct sizes *ret_sizes);

/* Say what is pinned already, and has another size. */
void tables_tell_adopted(const struct sizes *wanted, __u32 flows, __u32 halved);

#endif
