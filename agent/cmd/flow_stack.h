/* SPDX-License-Identifier: Apache-2.0 */
/* The stack of the thread that has sent on a connection last, for `ctxprop flows`. */
#ifndef CTXPROP_FLOW_STACK_H
#define CTXPROP_FLOW_STACK_H

#include <jansson.h>

#include "engine/record.h"

/* Print lines of text; none without a stack. */
void flow_stack_print(const struct record_stack_entry *stack);

/* The same; null without a stack. */
json_t *flow_stack_json(const struct record_stack_entry *stack);

#endif
