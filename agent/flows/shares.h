/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shares of the flow table, counted anew: the programs count them as flows come and go, but not
 * what is removed from here, nor exactly when two processors meet.
 */
#ifndef CTXPROP_FLOW_SHARES_H
#define CTXPROP_FLOW_SHARES_H

#include "abi.h"

/* A flow that counts is met. */
void shares_count(struct flow_shares *shares, const struct flow *flow);

/* What was counted holds from now on. 0 or -errno. */
int shares_write(int fd, const struct flow_shares *shares);

#endif
