// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "base/cleanup.h"
#include "control/policy_model.h"
#include "control/policy_text.h"
#include "daemon/policy_hits.h"
#include "daemon/policy_json.h"

static json_t *rule_json(const struct policy_rule *rule, bool builtin, __u64 hits)
{
	char text[POLICY_RULE_TEXT_MAX];

	return json_pack("{sI,ss,ss,sb,sI}", "prio", (json_int_t)rule->prio, "rule",
			 rule_text(text, rule), "action", action_text(rule->action), "builtin",
			 builtin, "hits", (json_int_t)hits);
}

static json_t *rules_json(const struct policy *policy, const struct policy_hits *hits)
{
	json_t *array = json_array();

	for (size_t i = 0; i < policy->count; i++)
		json_array_append_new(array, rule_json(&policy->rules[i], false, hits->rule[i]));
	for (size_t i = 0; i < POLICY_BUILTIN_RULES; i++)
		json_array_append_new(array, rule_json(policy_builtin(i), true, hits->builtin[i]));
	return array;
}

json_t *policy_json(struct policies *policies)
{
	_cleanup_free_ struct policy_hits *hits = malloc(sizeof(*hits));
	struct policy policy;
	json_t *array;

	if (!hits || policies_hits(policies, &policy, hits))
		return NULL;
	array = rules_json(&policy, hits);
	policy_clear(&policy);
	return array;
}
