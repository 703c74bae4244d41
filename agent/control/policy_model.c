// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/policy_model.h"
#include "control/policy_sets.h"

#define PRIO_FIRST 100
#define PRIO_STEP  10

static struct policy_rule builtin[POLICY_BUILTIN_RULES] = {
    {.prio = POLICY_PRIO_MAX + 765,
     .dir = POLICY_IN,
     .action = POLICY_ACCEPT,
     .sample = POLICY_SAMPLE_ALL},
    {.prio = POLICY_PRIO_MAX + 766,
     .dir = POLICY_OUT,
     .action = POLICY_INJECT,
     .sample = POLICY_SAMPLE_ALL},
    {.prio = POLICY_PRIO_MAX + 767,
     .dir = POLICY_FORWARD,
     .action = POLICY_INJECT,
     .sample = POLICY_SAMPLE_ALL},
};

void policy_clear(struct policy *policy)
{
	for (size_t i = 0; policy->sets && i < policy->set_count; i++)
		free(policy->sets[i].prefixes);
	free(policy->sets);
	free(policy->rules);
	*policy = (struct policy){};
}

static void *copy_of(const void *items, size_t count, size_t size)
{
	void *copy = calloc(count ? count : 1, size);

	if (copy && count)
		memcpy(copy, items, count * size);
	return copy;
}

int policy_copy(const struct policy *policy, struct policy *ret)
{
	*ret = (struct policy){
	    .rules = copy_of(policy->rules, policy->count, sizeof(*policy->rules)),
	    .sets = copy_of(policy->sets, policy->set_count, sizeof(*policy->sets)),
	};
	if (ret->rules)
		ret->count = policy->count;
	for (size_t i = 0; ret->sets && i < policy->set_count; i++) {
		const struct policy_set *set = &policy->sets[i];

		ret->sets[i].prefixes = copy_of(set->prefixes, set->count, sizeof(*set->prefixes));
		if (!ret->sets[i].prefixes)
			break;
		ret->set_count++;
	}
	if (ret->rules && ret->sets && ret->set_count == policy->set_count)
		return 0;
	policy_clear(ret);
	return -ENOMEM;
}

const struct policy_rule *policy_builtin(size_t index)
{
	return &builtin[index];
}

void policy_builtin_set_sample(__u32 sample)
{
	for (size_t i = 0; i < POLICY_BUILTIN_RULES; i++)
		builtin[i].sample = sample;
}

bool policy_builtin_is_usual(void)
{
	for (size_t i = 0; i < POLICY_BUILTIN_RULES; i++)
		if (builtin[i].sample != POLICY_SAMPLE_ALL)
			return false;
	return true;
}

void policy_rule_init(struct policy_rule *rule)
{
	*rule = (struct policy_rule){
	    .action = POLICY_INJECT,
	    .sample = POLICY_SAMPLE_ALL,
	};
}

static bool begins_traces(enum policy_action action)
{
	return action == POLICY_INJECT || action == POLICY_RESTART || action == POLICY_ACCEPT ||
	       action == POLICY_IGNORE;
}

/* Parts that only some rules can have. */
static int check_parts(const struct policy_rule *rule, struct policy_error *error)
{
	bool inbound = rule->action == POLICY_ACCEPT || rule->action == POLICY_IGNORE;

	if (inbound != (rule->dir == POLICY_IN))
		return policy_fail(error, -EINVAL,
				   "this action does not go with this direction: 'dir in' takes "
				   "accept or ignore, the others take inject, observe, restart, "
				   "strip or skip");
	if (rule->cgroup[0] && rule->dir != POLICY_OUT)
		return policy_fail(error, -EINVAL,
				   "only the sender's cgroup is known: 'cgroup' needs 'dir out'");
	if (rule->host[0] && rule->dir == POLICY_IN)
		return policy_fail(error, -EINVAL, "'host' needs 'dir out' or 'dir forward'");
	if (rule->sample != POLICY_SAMPLE_ALL && !begins_traces(rule->action))
		return policy_fail(error, -EINVAL,
				   "'sample' needs an action that can begin a trace: inject or "
				   "restart, with 'dir in' accept or ignore");
	if (rule->no_root && rule->action != POLICY_INJECT)
		return policy_fail(error, -EINVAL, "'root no' needs 'action inject'");
	if (rule->no_tracestate && rule->action != POLICY_INJECT)
		return policy_fail(error, -EINVAL, "'tracestate no' needs 'action inject'");
	return 0;
}

int policy_rule_check(const struct policy_rule *rule, struct policy_error *error)
{
	if ((unsigned int)rule->dir >= POLICY_DIRS || (unsigned int)rule->action >= POLICY_ACTIONS)
		return policy_fail(error, -EINVAL, "there is no such direction or action");
	if (rule->prio > POLICY_PRIO_MAX)
		return policy_fail(error, -EINVAL, "priorities are numbers from 0 to %d",
				   POLICY_PRIO_MAX);
	if (rule->port_count > POLICY_PORTS_MAX)
		return policy_fail(error, -EINVAL, "a rule names no more than %d ranges of ports",
				   POLICY_PORTS_MAX);
	for (unsigned int i = 0; i < rule->port_count; i++)
		if (rule->ports[i].first > rule->ports[i].last)
			return policy_fail(error, -EINVAL,
					   "the first port is larger than the last");
	if (rule->sample > POLICY_SAMPLE_ALL)
		return policy_fail(error, -EINVAL, "a sample is a ratio from 0 to 1");
	return check_parts(rule, error);
}

/* Where the rule of this priority stands, or would. */
static size_t rule_place(const struct policy *policy, __u32 prio)
{
	size_t at = 0;

	while (at < policy->count && policy->rules[at].prio < prio)
		at++;
	return at;
}

const struct policy_rule *policy_find(const struct policy *policy, __u32 prio)
{
	size_t at = rule_place(policy, prio);

	return at < policy->count && policy->rules[at].prio == prio ? &policy->rules[at] : NULL;
}

__u32 policy_next_prio(const struct policy *policy)
{
	if (!policy->count)
		return PRIO_FIRST;
	return policy->rules[policy->count - 1].prio + PRIO_STEP;
}

/* Make room for one more item at a place of a sorted array. Returns the new array or NULL. */
static void *open_gap(void *items, size_t count, size_t at, size_t size)
{
	char *grown = reallocarray(items, count + 1, size);

	if (grown)
		memmove(grown + (at + 1) * size, grown + at * size, (count - at) * size);
	return grown;
}

static int insert_rule(struct policy *policy, size_t at, const struct policy_rule *rule,
		       struct policy_error *error)
{
	struct policy_rule *rules;

	if (policy->count == POLICY_USER_RULES_MAX)
		return policy_fail(error, -E2BIG, "a policy has no more than %d rules",
				   POLICY_USER_RULES_MAX);
	rules = open_gap(policy->rules, policy->count, at, sizeof(*rules));
	if (!rules)
		return policy_fail(error, -ENOMEM, "out of memory");
	rules[at] = *rule;
	policy->rules = rules;
	policy->count++;
	return 0;
}

static int check_end(const struct policy *policy, const struct policy_end *end,
		     struct policy_error *error)
{
	if (end->kind != POLICY_SET || policy_find_set(policy, end->set))
		return 0;
	return policy_fail(error, -ESRCH, "there is no set '%s'; make it first: set %s add PREFIX",
			   end->set, end->set);
}

int policy_put_rule(struct policy *policy, const struct policy_rule *rule, enum policy_put how,
		    struct policy_error *error)
{
	size_t at = rule_place(policy, rule->prio);
	bool exists = at < policy->count && policy->rules[at].prio == rule->prio;
	int err = policy_rule_check(rule, error);

	if (!err)
		err = check_end(policy, &rule->from, error);
	if (!err)
		err = check_end(policy, &rule->to, error);
	if (err)
		return err;
	if (exists && how == POLICY_PUT_NEW)
		return policy_fail(error, -EEXIST,
				   "there is a rule of priority %u already; delete it first, or "
				   "use 'policy replace'",
				   rule->prio);
	if (!exists && how == POLICY_PUT_EXISTING)
		return policy_fail(error, -ENOENT, "there is no rule of priority %u", rule->prio);
	if (!exists)
		return insert_rule(policy, at, rule, error);
	policy->rules[at] = *rule;
	return 0;
}

int policy_delete_rule(struct policy *policy, __u32 prio, struct policy_error *error)
{
	size_t at = rule_place(policy, prio);

	if (at >= policy->count || policy->rules[at].prio != prio) {
		if (prio > POLICY_PRIO_MAX && prio <= builtin[POLICY_BUILTIN_RULES - 1].prio)
			return policy_fail(
			    error, -ENOENT,
			    "no user's rule has priority %u; built-in rules cannot be "
			    "deleted, only preceded by others",
			    prio);
		return policy_fail(error, -ENOENT, "there is no rule of priority %u", prio);
	}
	policy->count--;
	memmove(&policy->rules[at], &policy->rules[at + 1],
		(policy->count - at) * sizeof(*policy->rules));
	return 0;
}

void policy_flush_rules(struct policy *policy)
{
	policy->count = 0;
}
