/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts anew who has how many entries of the flow table. The packet programs count as flows come
 * and go, but not those that the daemon removes, and not exactly when two processors count at once.
 */
#ifndef CTXPROP_FLOW_SHARES_H
#define CTXPROP_FLOW_SHARES_H

#include "abi.h"

/* Count this flow. */
void shares_count(struct flow_shares *shares, const struct flow *flow);

/* Put what was counted in place of the programs' counts. 0 or -errno. */
int shares_write(int fd, const struct flow_shares *shares);

#endif
