/* SPDX-License-Identifier: Apache-2.0 */
/* How a thread came to send on a connection, as `ctxprop flows` shows it. */
#ifndef CTXPROP_FLOW_STACK_H
#define CTXPROP_FLOW_STACK_H

#include <jansson.h>

#include "engine/record.h"

/* Print lines of text; none without a stack. */
void flow_stack_print(const struct record_stack_entry *stack);

/* The same; null without a stack. */
json_t *flow_stack_json(const struct record_stack_entry *stack);

#endif
