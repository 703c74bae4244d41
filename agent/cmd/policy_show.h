/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CTXPROP_CMD_POLICY_SHOW_H
#define CTXPROP_CMD_POLICY_SHOW_H

#include <jansson.h>

#include "control/policy_types.h"

/* One rule, as `policy show` and `monitor` print it, without the end of the line. */
void policy_show_rule(const struct policy_rule *rule, bool builtin);

/* One rule, and one set, as JSON. */
json_t *policy_rule_json(const struct policy_rule *rule, bool builtin);
json_t *policy_set_json(const struct policy_set *set);

#endif
