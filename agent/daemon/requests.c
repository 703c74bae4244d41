// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "control/policy_model.h"
#include "control/policy_sets.h"
#include "control/policy_text.h"
#include "daemon/policy_hits.h"
#include "daemon/requests.h"

/* One request that changes the policy: what it does goes into a copy, all or nothing. */
struct change {
	struct policy policy;
	const struct nlmsghdr *request;
	struct policy_error *error;
	unsigned int rules, sets; /* how many the message has */
	struct policy_rule rule;  /* the last one */
	struct policy_set set;
};

static enum policy_put put_of(__u16 flags)
{
	if (flags & NLM_F_EXCL)
		return POLICY_PUT_NEW;
	return flags & NLM_F_CREATE ? POLICY_PUT_EITHER : POLICY_PUT_EXISTING;
}

/* The request has only the priority; the event has the whole rule. */
static int delete_rule(struct change *change)
{
	const struct policy_rule *rule = policy_find(&change->policy, change->rule.prio);

	if (rule)
		change->rule = *rule;
	return policy_delete_rule(&change->policy, change->rule.prio, change->error);
}

/* A rule that says the same as another one can only be a mistake. */
static int refuse_twin(const struct change *change)
{
	char text[POLICY_RULE_TEXT_MAX], other[POLICY_RULE_TEXT_MAX];

	rule_text(text, &change->rule);
	for (size_t i = 0; i < change->policy.count; i++) {
		const struct policy_rule *rule = &change->policy.rules[i];

		if (rule->prio != change->rule.prio && !strcmp(text, rule_text(other, rule)))
			return policy_fail(change->error, -EEXIST,
					   "rule %u says the same; delete it first if its place "
					   "is the wrong one",
					   rule->prio);
	}
	return 0;
}

static int change_rule(const struct policy_rule *rule, const struct control_about *about,
		       void *data)
{
	struct change *change = data;
	__u16 flags = change->request->nlmsg_flags;
	int err = 0;

	change->rules++;
	change->rule = *rule;
	if (about->builtin)
		return policy_fail(change->error, -EINVAL, "built-in rules cannot be changed");
	if (change->request->nlmsg_type == CONTROL_RULE_DELETE)
		return delete_rule(change);
	if (rule->prio == POLICY_PRIO_UNSAID)
		change->rule.prio = policy_next_prio(&change->policy);
	if (change->request->nlmsg_type == CONTROL_RESTORE)
		flags = NLM_F_CREATE | NLM_F_EXCL;
	else if (flags & NLM_F_EXCL)
		err = refuse_twin(change);
	return err ? err
		   : policy_put_rule(&change->policy, &change->rule, put_of(flags), change->error);
}

static int change_set(const struct policy_set *set, void *data)
{
	struct change *change = data;
	bool exclusive = change->request->nlmsg_type == CONTROL_SET_NEW &&
			 change->request->nlmsg_flags & NLM_F_EXCL;

	change->sets++;
	change->set = *set;
	if (change->request->nlmsg_type != CONTROL_SET_DELETE)
		return policy_put_set(&change->policy, set, exclusive, change->error);
	if (set->count)
		return policy_delete_from_set(&change->policy, set, change->error);
	return policy_flush_set(&change->policy, set->name, change->error);
}

/* Does the message have what its type requires? */
static int check_contents(const struct change *change)
{
	unsigned int rules = 0, sets = 0;

	switch (change->request->nlmsg_type) {
	case CONTROL_RESTORE:
		return 0;
	case CONTROL_RULE_NEW:
	case CONTROL_RULE_DELETE:
		rules = 1;
		break;
	case CONTROL_SET_NEW:
	case CONTROL_SET_DELETE:
		sets = 1;
		break;
	}
	if (change->rules == rules && change->sets == sets)
		return 0;
	return policy_fail(change->error, -EINVAL, "the message has %u rules and %u sets",
			   change->rules, change->sets);
}

static int build(struct change *change, const struct policy *now)
{
	const struct control_visitor visitor = {
	    .on_rule = change_rule, .on_set = change_set, .data = change, .error = change->error};
	__u16 type = change->request->nlmsg_type;
	int err = 0;

	if (type != CONTROL_RESTORE)
		err = policy_copy(now, &change->policy);
	if (err)
		return policy_fail(change->error, err, "out of memory");
	if (type == CONTROL_RULE_FLUSH)
		policy_flush_rules(&change->policy);
	err = control_read(change->request, &visitor);
	return err ? err : check_contents(change);
}

/* Send an event for the change, and log who has made it. */
static void announce(const struct requests *requests, const struct change *change,
		     const struct control_peer *peer)
{
	_Alignas(struct nlmsghdr) char bytes[2 * CONTROL_PART_MAX] = {};
	struct control_message message;
	__u16 type = change->request->nlmsg_type;
	const struct policy *policy = &requests->policies->policy;

	control_begin(&message, bytes, sizeof(bytes), type, change->request->nlmsg_flags);
	if (change->rules && type != CONTROL_RESTORE)
		control_put_rule(&message, &change->rule, NULL);
	if (change->sets && type != CONTROL_RESTORE)
		control_put_set(&message, &change->set);
	control_server_notify(requests->server, &message);
	log_info("policy-changed",
		 "policy: changed by process %d of user %u, %zu rule%s, %zu set%s", peer->pid,
		 peer->uid, policy->count, policy->count == 1 ? "" : "s", policy->set_count,
		 policy->set_count == 1 ? "" : "s");
}

/* The reply has the rule as it is in the policy. */
static void echo(const struct change *change, struct control_answer *answer)
{
	__u16 type = change->request->nlmsg_type;

	if (change->request->nlmsg_flags & NLM_F_ECHO &&
	    (type == CONTROL_RULE_NEW || type == CONTROL_RULE_DELETE))
		control_answer_rule(answer, &change->rule, &(struct control_about){});
}

static int handle_change(struct requests *requests, const struct nlmsghdr *request,
			 struct control_answer *answer, struct policy_error *error)
{
	struct change change = {.request = request, .error = error};
	int err = build(&change, &requests->policies->policy);

	if (!err)
		err = policies_apply(requests->policies, &change.policy, error);
	if (!err) {
		policies_keep(requests->policies);
		announce(requests, &change, control_answer_peer(answer));
		echo(&change, answer);
	}
	policy_clear(&change.policy);
	return err;
}

static int dump_rules(const struct policies *policies, struct control_answer *answer)
{
	const struct policy *policy = &policies->policy;
	struct policy_hits hits;
	int err = policy_hits_read(&policies->maps, policy, &hits);

	for (size_t i = 0; !err && i < policy->count; i++)
		err = control_answer_rule(answer, &policy->rules[i],
					  &(struct control_about){.hits = hits.rule[i]});
	for (size_t i = 0; !err && i < POLICY_BUILTIN_RULES; i++)
		err = control_answer_rule(
		    answer, policy_builtin(i),
		    &(struct control_about){.builtin = true, .hits = hits.builtin[i]});
	return err;
}

static int dump_sets(const struct policy *policy, struct control_answer *answer)
{
	int err = 0;

	for (size_t i = 0; !err && i < policy->set_count; i++)
		err = control_answer_set(answer, &policy->sets[i]);
	return err;
}

static int dump_store(const struct store_told *told, struct control_answer *answer)
{
	struct control_store store;

	store_told_now(told, &store);
	return control_answer_store(answer, &store);
}

static int dump(const struct requests *requests, __u16 type, struct control_answer *answer)
{
	const struct policies *policies = requests->policies;

	switch (type) {
	case CONTROL_RULE_GET:
		return dump_rules(policies, answer);
	case CONTROL_SET_GET:
		return dump_sets(&policies->policy, answer);
	default:
		return dump_store(&requests->store, answer);
	}
}

static bool is_dump(__u16 type)
{
	return type == CONTROL_RULE_GET || type == CONTROL_SET_GET || type == CONTROL_STORE_GET;
}

static int handle_dump(const struct requests *requests, const struct nlmsghdr *request,
		       struct control_answer *answer, struct policy_error *error)
{
	const struct control_visitor nothing = {.error = error};
	int err = control_read(request, &nothing);

	if (err)
		return err;
	err = dump(requests, request->nlmsg_type, answer);
	return err ? policy_fail(error, err, "the answer is not read: %s", strerror(-err)) : 0;
}

/* Who has ordered what. */
static void log_order(__u16 type, const struct control_place *place,
		      const struct control_peer *peer)
{
	static const char *const words[CONTROL_TYPE_END] = {
	    [CONTROL_ATTACH] = "attach", [CONTROL_DETACH] = "detach",   [CONTROL_DRAIN] = "drain",
	    [CONTROL_PAUSED] = "paused", [CONTROL_RESUMED] = "resumed",
	};
	char netns[32] = "";

	if (place->netns)
		snprintf(netns, sizeof(netns), " netns:%llx", (unsigned long long)place->netns);
	log_info("ordered", "%s%s%s%s: by process %d of user %u", words[type],
		 place->device[0] ? " " : "", place->device, netns, peer->pid, peer->uid);
}

static int handle_order(const struct requests *requests, const struct nlmsghdr *request,
			const struct control_answer *answer, struct policy_error *error)
{
	struct control_place place = {};
	_Alignas(struct nlmsghdr) char bytes[CONTROL_PART_MAX] = {};
	struct control_message news;
	int err;

	control_begin(&news, bytes, sizeof(bytes), request->nlmsg_type, 0);
	err = orders_do(&requests->orders, request, &place, error);
	if (err)
		return err;
	log_order(request->nlmsg_type, &place, control_answer_peer(answer));
	if (place.device[0] || place.netns)
		control_put_place(&news, &place);
	/* A drain sends events itself. */
	if (request->nlmsg_type != CONTROL_DRAIN)
		control_server_notify(requests->server, &news);
	return 0;
}

static int handle(const struct nlmsghdr *request, struct control_answer *answer, void *data,
		  struct policy_error *error)
{
	struct requests *requests = data;

	if (orders_has(request->nlmsg_type))
		return handle_order(requests, request, answer, error);

	if (is_dump(request->nlmsg_type))
		return handle_dump(requests, request, answer, error);
	return handle_change(requests, request, answer, error);
}

int requests_open(struct requests *requests, struct policies *policies, const char *store,
		  gid_t readers)
{
	const struct control_server_options options = {
	    .handle = handle, .data = requests, .readers = readers};
	int err;

	*requests = (struct requests){.policies = policies};
	err = store_told_begin(&requests->store, store);
	return err ? err : control_server_open(&options, &requests->server);
}

void requests_close(struct requests *requests)
{
	control_server_close(requests->server);
	requests->server = NULL;
}
