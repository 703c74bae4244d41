/* SPDX-License-Identifier: Apache-2.0 */
/* What the log says about following requests. */
#ifndef CTXPROP_FOLLOW_H
#define CTXPROP_FOLLOW_H

#include "load/node.h"

/* Say where the probes are, and what they cannot do here. */
void follow_log(const struct node_report *report);

/* Say at the start what will not be followed for want of rights. */
void follow_warn(void);

#endif
