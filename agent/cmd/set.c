// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cmd/command.h"
#include "cmd/json.h"
#include "cmd/policy_show.h"
#include "cmd/talk.h"
#include "control/policy_text.h"
#include "control/prefix.h"

const char command_set_usage[] =
    "  set [show]               all sets\n"
    "  set NAME [show]\n"
    "  set NAME add NET...      add networks to a set, which is created if it is missing\n"
    "  set NAME del NET...      remove networks from it\n"
    "  set NAME flush           empty it; if no rule names it, it is removed\n"
    "\n"
    "NET: a network such as 10.0.0.0/8 or fd00::/8\n";

/* The sets that a dump brings; a large one comes in pieces. */
struct showing {
	const char *name; /* only this one; NULL: all */
	json_t *array;    /* NULL: text */
	char last[POLICY_NAME_SIZE];
	bool found, oneline;
};

static void show_text(struct showing *showing, const struct policy_set *set)
{
	char text[POLICY_PREFIX_TEXT_MAX];

	if (strcmp(showing->last, set->name) != 0) {
		if (showing->oneline && showing->last[0])
			putchar('\n');
		colour_print(COLOUR_NAME, "%s", set->name);
		fputs(showing->oneline ? ":" : ":\n", stdout);
	}
	for (size_t i = 0; i < set->count; i++) {
		putchar(showing->oneline ? ' ' : '\t');
		colour_print(COLOUR_ADDRESS, "%s", prefix_text(text, &set->prefixes[i]));
		fputs(showing->oneline ? "" : "\n", stdout);
	}
}

static void show_json(const struct showing *showing, const struct policy_set *set)
{
	json_t *object = policy_set_json(set), *before;

	if (strcmp(showing->last, set->name) != 0) {
		json_array_append_new(showing->array, object);
		return;
	}
	before = json_array_get(showing->array, json_array_size(showing->array) - 1);
	json_array_extend(json_object_get(before, "networks"), json_object_get(object, "networks"));
	json_decref(object);
}

static int show_set(const struct policy_set *set, void *data)
{
	struct showing *showing = data;

	if (showing->name && strcmp(showing->name, set->name) != 0)
		return 0;
	showing->found = true;
	if (showing->array)
		show_json(showing, set);
	else
		show_text(showing, set);
	text_copy(showing->last, sizeof(showing->last), set->name);
	return 0;
}

static int show(const struct command_flags *flags, const char *name)
{
	static const struct talk ask = {.type = CONTROL_SET_GET, .flags = NLM_F_DUMP};
	struct showing showing = {
	    .name = name, .array = flags->json ? json_array() : NULL, .oneline = flags->oneline};
	struct policy_error error = {};
	const struct control_visitor visitor = {
	    .on_set = show_set, .data = &showing, .error = &error};
	int status = talk(&ask, &visitor);

	if (status == COMMAND_OK && name && !showing.found)
		status = command_refuse("set: there is no set '%s'", name);
	if (status == COMMAND_OK && flags->json)
		return json_print(showing.array);
	if (showing.oneline && showing.last[0])
		putchar('\n');
	json_decref(showing.array);
	return status;
}

static int say_changed(const struct command_flags *flags, const struct policy_set *set, bool added)
{
	if (!added && !set->count)
		return json_answer(flags, json_pack("{ss}", "flushed", set->name),
				   "set %s: flushed", set->name);
	return json_answer(flags,
			   json_pack("{ss, sI}", "name", set->name, added ? "added" : "deleted",
				     (json_int_t)set->count),
			   "set %s: %zu network%s %s", set->name, set->count,
			   set->count == 1 ? "" : "s", added ? "added" : "deleted");
}

/* add, del: the networks behind the verb. */
static int change(const struct command_flags *flags, __u16 type, __u16 how)
{
	struct policy_error error = {};
	struct policy_set set;
	const struct talk order = {.type = type, .flags = how, .set = &set};
	int err = set_parse(flags->words[0], flags->words + 2, flags->count - 2, &set, &error);
	int status;

	if (err && !set.name[0])
		status = command_misused("set: '%s': %s", flags->words[0], error.text);
	else if (err)
		status = command_misused("set %s: '%s': %s", set.name, flags->words[2 + error.word],
					 error.text);
	else
		status = talk_order(&order);
	if (status == COMMAND_OK)
		status = say_changed(flags, &set, type == CONTROL_SET_NEW);
	free(set.prefixes);
	return status;
}

static int add(const struct command_flags *flags)
{
	return change(flags, CONTROL_SET_NEW, NLM_F_CREATE);
}

static int remove_from(const struct command_flags *flags)
{
	/* Without networks it would be flush. */
	if (flags->count == 2)
		return command_misused("set %s del: a network is missing", flags->words[0]);
	return change(flags, CONTROL_SET_DELETE, 0);
}

static int flush(const struct command_flags *flags)
{
	if (flags->count > 2)
		return command_misused("set %s flush: unexpected argument '%s'", flags->words[0],
				       flags->words[2]);
	return change(flags, CONTROL_SET_DELETE, 0);
}

static const struct {
	const char *name;
	int (*run)(const struct command_flags *flags);
} verbs[] = {{"add", add}, {"del", remove_from}, {"flush", flush}};

int command_set(const struct pins *pins, const struct command_flags *flags)
{
	(void)pins;
	if (!flags->count || (flags->count == 1 && !strcmp(flags->words[0], "show")))
		return show(flags, NULL);
	if (flags->count == 1 || (flags->count == 2 && !strcmp(flags->words[1], "show")))
		return show(flags, flags->words[0]);
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (!strcmp(flags->words[1], verbs[i].name))
			return verbs[i].run(flags);
	return command_misused("set %s: '%s': expected show, add, del or flush", flags->words[0],
			       flags->words[1]);
}
