// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "cmd/command.h"
#include "cmd/json.h"
#include "cmd/policy_show.h"
#include "cmd/talk.h"
#include "control/policy_file.h"
#include "control/policy_model.h"
#include "control/policy_sets.h"
#include "control/policy_text.h"

const struct option_row command_policy_options[] = {
    {"statistics", 's', NULL, "show how many requests each rule has decided",
     .flag = &command_flags.statistics},
    {},
};

const char command_policy_usage[] =
    "  policy [show]            all rules, in their order: the first that matches decides\n"
    "  policy add RULE          a new rule; without prio after all others\n"
    "  policy replace RULE      the same, but replaces a rule of the same prio\n"
    "  policy del prio N\n"
    "  policy flush             all rules but the built-in ones; sets stay\n"
    "  policy save              print sets and rules, as a file for restore and ctxpropd\n"
    "  policy restore [FILE]    replace all sets and rules by those of a file (- or none:\n"
    "                           standard input), all at once or not at all\n"
    "\n"
    "RULE: [prio N] [dir out|in|forward] [dev NAME] [from NET] [to NET] [port PORTS]\n"
    "      [cgroup PATH] [host PATTERN] action ACTION [sample RATIO] [root yes|no]\n"
    "      [tracestate yes|no]\n"
    "PORTS: a port, a range, or a list of these: 80,443,8000-8999\n"
    "ACTION: inject, observe, restart, strip, skip; with dir in: accept, ignore\n"
    "NET: any, a network (10.0.0.0/8), a set's name; ! before it: all others\n";

/* Print what `save` has gathered. */
static int print_saved(const struct command_flags *flags, const struct policy *policy)
{
	json_t *sets, *rules;

	if (!flags->json) {
		policy_write(stdout, policy);
		return COMMAND_OK;
	}
	sets = json_array();
	rules = json_array();
	for (size_t i = 0; i < policy->set_count; i++)
		json_array_append_new(sets, policy_set_json(&policy->sets[i]));
	for (size_t i = 0; i < policy->count; i++)
		json_array_append_new(rules, policy_rule_json(&policy->rules[i], NULL));
	return json_print(json_pack("{so, so}", "sets", sets, "rules", rules));
}

/* The replies to a dump so far. */
struct gathering {
	struct policy policy;
	json_t *array; /* NULL: text */
	const struct command_flags *flags;
};

static int gather_rule(const struct policy_rule *rule, const struct control_about *about,
		       void *data)
{
	struct gathering *gathering = data;

	json_t *object;

	if (!gathering->array) {
		policy_show_rule(rule, about->builtin);
		if (gathering->flags->statistics)
			printf(gathering->flags->oneline ? " hits %llu" : "\n\thits %llu",
			       (unsigned long long)about->hits);
		putchar('\n');
		return 0;
	}
	object = policy_rule_json(rule, about->builtin);
	if (gathering->flags->statistics)
		json_object_set_new(object, "hits", json_integer((json_int_t)about->hits));
	json_array_append_new(gathering->array, object);
	return 0;
}

static int show(const struct command_flags *flags)
{
	static const struct talk ask = {.type = CONTROL_RULE_GET, .flags = NLM_F_DUMP};
	struct gathering gathering = {.array = flags->json ? json_array() : NULL, .flags = flags};
	struct policy_error error = {};
	const struct control_visitor visitor = {
	    .on_rule = gather_rule, .data = &gathering, .error = &error};
	int status = talk(&ask, &visitor);

	if (status == COMMAND_OK && flags->json)
		return json_print(gathering.array);
	json_decref(gathering.array);
	return status;
}

static int keep_rule(const struct policy_rule *rule, const struct control_about *about, void *data)
{
	struct gathering *gathering = data;
	struct policy_error error;

	return about->builtin
		   ? 0
		   : policy_put_rule(&gathering->policy, rule, POLICY_PUT_EITHER, &error);
}

static int keep_set(const struct policy_set *set, void *data)
{
	struct gathering *gathering = data;
	struct policy_error error;

	return policy_put_set(&gathering->policy, set, false, &error);
}

static int save(const struct command_flags *flags)
{
	static const struct talk sets = {.type = CONTROL_SET_GET, .flags = NLM_F_DUMP},
				 rules = {.type = CONTROL_RULE_GET, .flags = NLM_F_DUMP};
	struct gathering gathering = {};
	struct policy_error error = {.text = "rules and sets were changed meanwhile; try again"};
	const struct control_visitor visitor = {
	    .on_rule = keep_rule, .on_set = keep_set, .data = &gathering, .error = &error};
	int status = talk(&sets, &visitor);

	if (status == COMMAND_OK)
		status = talk(&rules, &visitor);
	if (status == COMMAND_OK)
		status = print_saved(flags, &gathering.policy);
	policy_clear(&gathering.policy);
	return status;
}

/* Is the rule complete and consistent? Without a priority the daemon chooses one. */
static int check(struct policy_rule rule, struct policy_error *error)
{
	if (rule.prio == POLICY_PRIO_UNSAID)
		rule.prio = 0;
	return policy_rule_check(&rule, error);
}

static int keep_echo(const struct policy_rule *rule, const struct control_about *about, void *data)
{
	(void)about;
	*(struct policy_rule *)data = *rule;
	return 0;
}

/* Send a change of one rule, and print `done` and the rule as it turned out. */
static int order_rule(const struct command_flags *flags, const struct policy_rule *rule, __u16 type,
		      __u16 how, const char *done)
{
	struct policy_error error = {};
	struct policy_rule now = *rule;
	const struct control_visitor visitor = {
	    .on_rule = keep_echo, .data = &now, .error = &error};
	const struct talk order = {.type = type, .flags = (__u16)(how | NLM_F_ECHO), .rule = rule};
	int status = talk(&order, &visitor);

	if (status != COMMAND_OK)
		return status;
	if (flags->json)
		return json_print(policy_rule_json(&now, false));
	printf("%s ", done);
	policy_show_rule(&now, false);
	putchar('\n');
	return COMMAND_OK;
}

static int put(const struct command_flags *flags, __u16 how, const char *done)
{
	struct policy_error error = {};
	struct policy_rule rule;

	if (flags->count == 1)
		return command_misused("policy %s: 'action ACTION' is missing", flags->words[0]);
	if (rule_parse(flags->words + 1, flags->count - 1, &rule, &error))
		return command_misused("policy %s: '%s': %s", flags->words[0],
				       flags->words[1 + error.word], error.text);
	if (check(rule, &error))
		return command_misused("policy %s: %s", flags->words[0], error.text);
	if (how & NLM_F_REPLACE && rule.prio == POLICY_PRIO_UNSAID)
		return command_misused("policy replace: 'prio N' is missing");
	return order_rule(flags, &rule, CONTROL_RULE_NEW, how, done);
}

static int add(const struct command_flags *flags)
{
	return put(flags, NLM_F_CREATE | NLM_F_EXCL, "added");
}

static int replace(const struct command_flags *flags)
{
	return put(flags, NLM_F_CREATE | NLM_F_REPLACE, "in force");
}

static int remove_rule(const struct command_flags *flags)
{
	struct policy_rule rule;
	unsigned long prio;

	if (flags->count != 3 || strcmp(flags->words[1], "prio") != 0 ||
	    number_parse(flags->words[2], 0, POLICY_PRIO_UNSAID - 1, &prio))
		return command_misused("policy del: expected 'prio N', as 'policy show' names it");
	policy_rule_init(&rule);
	rule.prio = (__u32)prio;
	return order_rule(flags, &rule, CONTROL_RULE_DELETE, 0, "deleted");
}

static int flush(const struct command_flags *flags)
{
	static const struct talk order = {.type = CONTROL_RULE_FLUSH};
	int status = talk_order(&order);

	return status ? status
		      : json_answer(flags, json_pack("{sb}", "flushed", 1),
				    "flushed: only the built-in rules are left, and all sets");
}

static int say_restored(const struct command_flags *flags, const struct policy *policy)
{
	return json_answer(flags,
			   json_pack("{sI, sI}", "rules", (json_int_t)policy->count, "sets",
				     (json_int_t)policy->set_count),
			   "restored: %zu rule%s, %zu set%s", policy->count,
			   policy->count == 1 ? "" : "s", policy->set_count,
			   policy->set_count == 1 ? "" : "s");
}

static int restore(const struct command_flags *flags)
{
	const char *name = flags->count > 1 ? flags->words[1] : "-";
	struct policy_error error = {};
	struct policy policy;
	const struct talk order = {.type = CONTROL_RESTORE, .policy = &policy};
	int err = strcmp(name, "-") != 0 ? policy_read_file(name, &policy, &error)
					 : policy_read_stream(stdin, "-", &policy, &error);
	int status;

	if (err)
		return command_refuse("policy restore: %s", error.text);
	status = talk_order(&order);
	if (status == COMMAND_OK)
		status = say_restored(flags, &policy);
	policy_clear(&policy);
	return status;
}

static const struct {
	const char *name;
	int (*run)(const struct command_flags *flags);
	size_t words; /* how many it may have, its name included */
} verbs[] = {
    {"show", show, 1},   {"add", add, 64},  {"replace", replace, 64}, {"del", remove_rule, 3},
    {"flush", flush, 1}, {"save", save, 1}, {"restore", restore, 2},
};
#define VERBS (sizeof(verbs) / sizeof(verbs[0]))

int command_policy(const struct pins *pins, const struct command_flags *flags)
{
	(void)pins;
	if (!flags->count)
		return show(flags);
	for (size_t i = 0; i < VERBS; i++) {
		if (strcmp(flags->words[0], verbs[i].name) != 0)
			continue;
		if (flags->count > verbs[i].words)
			return command_misused("policy %s: unexpected argument '%s'", verbs[i].name,
					       flags->words[verbs[i].words]);
		return verbs[i].run(flags);
	}
	return command_misused("policy: '%s': expected show, add, replace, del, flush, save or "
			       "restore",
			       flags->words[0]);
}
