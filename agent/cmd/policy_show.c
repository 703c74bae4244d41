// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "cmd/colour.h"
#include "cmd/policy_show.h"
#include "control/policy_text.h"
#include "control/prefix.h"

static enum colour colour_of_action(const char *word)
{
	if (!strcmp(word, action_text(POLICY_INJECT)) || !strcmp(word, action_text(POLICY_ACCEPT)))
		return COLOUR_GOOD;
	return !strcmp(word, action_text(POLICY_OBSERVE)) ? COLOUR_CAUTION : COLOUR_BAD;
}

/* By the word before it. */
static enum colour colour_of(const char *key, const char *word)
{
	static const char *const ends[] = {"from", "to"}, *const names[] = {"dev", "cgroup",
									    "host"};

	if (!strcmp(key, "action"))
		return colour_of_action(word);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (!strcmp(key, ends[i]))
			return COLOUR_ADDRESS;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(key, names[i]))
			return COLOUR_NAME;
	return COLOUR_PLAIN;
}

void policy_show_rule(const struct policy_rule *rule, bool builtin)
{
	char text[POLICY_RULE_TEXT_MAX], *rest;
	const char *key = "";

	rule_text(text, rule);
	printf("%u:", rule->prio);
	for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		putchar(*key ? ' ' : '\t');
		colour_print(colour_of(key, word), "%s", word);
		key = word;
	}
	printf("%s", builtin ? " # built in" : "");
}

static void add_text(json_t *object, const char *key, const char *value)
{
	if (value[0])
		json_object_set_new(object, key, json_string(value));
}

static void add_end(json_t *object, const char *key, const struct policy_end *end)
{
	char text[POLICY_PREFIX_TEXT_MAX + 1];

	if (end->kind != POLICY_ANYONE)
		add_text(object, key, end_text(text, end));
}

static json_t *ports_json(const struct policy_ports *ports)
{
	return json_pack("{si, si}", "port_first", ports->first, "port_last", ports->last);
}

/* One range stands in the rule, several in a list. */
static void add_ports(json_t *object, const struct policy_rule *rule)
{
	json_t *list;

	if (rule->port_count == 1)
		json_object_update_new(object, ports_json(&rule->ports[0]));
	if (rule->port_count < 2)
		return;
	list = json_array();
	for (unsigned int i = 0; i < rule->port_count; i++)
		json_array_append_new(list, ports_json(&rule->ports[i]));
	json_object_set_new(object, "ports", list);
}

json_t *policy_rule_json(const struct policy_rule *rule, bool builtin)
{
	json_t *object =
	    json_pack("{sI, ss}", "prio", (json_int_t)rule->prio, "dir", dir_text(rule->dir));

	add_text(object, "dev", rule->device);
	add_end(object, "from", &rule->from);
	add_end(object, "to", &rule->to);
	add_ports(object, rule);
	add_text(object, "cgroup", rule->cgroup);
	add_text(object, "host", rule->host);
	add_text(object, "action", action_text(rule->action));
	if (rule->action == POLICY_INJECT || rule->action == POLICY_RESTART)
		json_object_set_new(object, "sample",
				    json_real((double)rule->sample / POLICY_SAMPLE_ALL));
	if (rule->action == POLICY_INJECT) {
		json_object_set_new(object, "root", json_boolean(!rule->no_root));
		json_object_set_new(object, "tracestate", json_boolean(!rule->no_tracestate));
	}
	json_object_set_new(object, "builtin", json_boolean(builtin));
	return object;
}

json_t *policy_set_json(const struct policy_set *set)
{
	json_t *networks = json_array();
	char text[POLICY_PREFIX_TEXT_MAX];

	for (size_t i = 0; i < set->count; i++)
		json_array_append_new(networks, json_string(prefix_text(text, &set->prefixes[i])));
	return json_pack("{ss, so}", "name", set->name, "networks", networks);
}
