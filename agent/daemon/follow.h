/* SPDX-License-Identifier: Apache-2.0 */
/* Log lines about following requests. */
#ifndef CTXPROP_FOLLOW_H
#define CTXPROP_FOLLOW_H

#include "load/node.h"

/* Log where the probes are attached, and what they cannot do here. */
void follow_log(const struct node_report *report);

/* Log at the start what will not be followed because rights are missing. */
void follow_warn(void);

#endif
