/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stacks of threads at the moment at which they send, collected for a while by a program that
 * is loaded for this.
 */
#ifndef CTXPROP_STACKS_H
#define CTXPROP_STACKS_H

#include "flows/told.h"

/*
 * Wait so many seconds, and tell the last stack of each followed socket of a network namespace (as
 * in struct flow_key; 0: of all) on which something was sent meanwhile, as struct
 * record_stack_entry. To be freed. 0 or -errno.
 */
int stacks_gather(__u32 netns, unsigned int seconds, struct told *ret_stacks);

#endif
