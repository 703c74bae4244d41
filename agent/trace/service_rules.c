// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "trace/service_rules.h"

#define PATTERNS_MAX 8
#define RULES_MAX    4096
#define BLANKS       " \t\r"
#define ENV          "env."

static const char *const keys[] = {"exe", "comm", "args", "cgroup", "container", "pod"};
#define KEYS (sizeof(keys) / sizeof(keys[0]))

struct pattern {
	const char *key, *glob; /* within the text of the rules */
};

struct rule {
	struct pattern pattern[PATTERNS_MAX];
	size_t patterns;
	char attributes[ATTRIBUTES_MAX];
};

struct service_rules {
	char *text;
	size_t count;
	struct rule *rule;
};

struct reading {
	struct service_rules *rules;
	const char *name;
	unsigned int line;
	bool is_rules; /* a line was read that only such a file has: it may be quoted */
	char *why;
	size_t why_size;
};

__attribute__((format(printf, 3, 4))) static int fail(const struct reading *reading,
						      const char *word, const char *format, ...)
{
	char what[160];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	if (word && reading->is_rules)
		snprintf(reading->why, reading->why_size, "%.80s:%u: '%.60s': %s", reading->name,
			 reading->line, word, what);
	else
		snprintf(reading->why, reading->why_size, "%.80s:%u: %s", reading->name,
			 reading->line, what);
	return -EINVAL;
}

static bool is_key(const char *key)
{
	if (!strncmp(key, ENV, sizeof(ENV) - 1))
		return key[sizeof(ENV) - 1];
	for (size_t i = 0; i < KEYS; i++)
		if (!strcmp(key, keys[i]))
			return true;
	return false;
}

static int read_pattern(const struct reading *reading, struct rule *rule, char *word)
{
	char *equals = strchr(word, '=');

	if (!equals)
		return fail(reading, word, "expected KEY=PATTERN, or set");
	*equals = '\0';
	if (!is_key(word))
		return fail(reading, word,
			    "expected exe, comm, args, cgroup, container, pod or env.NAME");
	if (rule->patterns == PATTERNS_MAX)
		return fail(reading, word, "more than %d patterns", PATTERNS_MAX);
	rule->pattern[rule->patterns++] = (struct pattern){word, equals + 1};
	return 0;
}

/* One attribute has to come of each word. */
static int read_attribute(const struct reading *reading, struct rule *rule, const char *word)
{
	size_t before = strlen(rule->attributes), key = strcspn(word, "=");

	if (!word[key] || !attributes_key_is_free(word, key))
		return fail(reading, word,
			    "expected ATTRIBUTE=VALUE, as service.name=shop; not container.id, "
			    "host.name or telemetry.*");
	if (!strchr(word, ','))
		attributes_add_pairs(rule->attributes, word);
	if (strlen(rule->attributes) == before)
		return fail(reading, word,
			    "twice, empty, too long, or with a comma or a %% that is not written "
			    "as %%2C or %%25");
	return 0;
}

/* The words of a line, one after the other; NULL: no more. */
static char *next_word(char **at)
{
	char *word = *at + strspn(*at, BLANKS);

	if (!*word || *word == '#')
		return NULL;
	*at = word + strcspn(word, BLANKS);
	if (**at)
		*(*at)++ = '\0';
	return word;
}

static struct rule *add_rule(struct service_rules *rules)
{
	struct rule *rule = list_add(&rules->rule, &rules->count, sizeof(*rule));

	if (rule)
		*rule = (struct rule){};
	return rule;
}

static int read_rule(struct reading *reading, char *at)
{
	struct rule *rule = reading->rules->count < RULES_MAX ? add_rule(reading->rules) : NULL;
	bool sets = false;
	int err = 0;
	char *word;

	if (!rule)
		return fail(reading, NULL, "no memory, or more than %d rules", RULES_MAX);
	while (!err && (word = next_word(&at))) {
		if (sets)
			err = read_attribute(reading, rule, word);
		else if (!strcmp(word, "set"))
			sets = true;
		else
			err = read_pattern(reading, rule, word);
	}
	if (!err && !rule->attributes[0])
		err = fail(reading, NULL, "expected set ATTRIBUTE=VALUE at the end");
	return err;
}

static int read_line(struct reading *reading, char *line)
{
	const char *word = next_word(&line);

	if (!word)
		return 0;
	if (strcmp(word, "match") != 0)
		return fail(reading, word,
			    "expected match [KEY=PATTERN ...] set ATTRIBUTE=VALUE ...");
	reading->is_rules = true;
	return read_rule(reading, line);
}

static int read_lines(struct reading *reading)
{
	char *line, *next = reading->rules->text;
	int err = 0;

	while (!err && (line = strsep(&next, "\n"))) {
		reading->line++;
		err = read_line(reading, line);
	}
	return err;
}

int service_rules_read(const char *text, size_t size, const char *name,
		       struct service_rules **ret_rules, char *ret_why, size_t why_size)
{
	struct service_rules *rules = calloc(1, sizeof(*rules));
	struct reading reading = {
	    .rules = rules, .name = name, .why = ret_why, .why_size = why_size};
	int err = -ENOMEM;

	snprintf(ret_why, why_size, "%.80s: out of memory", name);
	if (rules)
		rules->text = strndup(text, size);
	if (rules && rules->text)
		err = memchr(text, '\0', size) ? fail(&reading, NULL, "not a text")
					       : read_lines(&reading);
	if (err)
		service_rules_free(rules);
	else
		*ret_rules = rules;
	return err;
}

void service_rules_free(struct service_rules *rules)
{
	if (!rules)
		return;
	free(rules->rule);
	free(rules->text);
	free(rules);
}

static const char *variable(const struct service_facts *facts, const char *name)
{
	const char *end = facts->environment + facts->environment_size;
	size_t length = strlen(name);

	for (const char *at = facts->environment; at < end;
	     at += strnlen(at, (size_t)(end - at)) + 1)
		if (!strncmp(at, name, length) && at[length] == '=')
			return at + length + 1;
	return NULL;
}

/* NULL: there is none. */
static const char *fact(const struct service_facts *facts, const char *key)
{
	const char *const values[KEYS] = {facts->exe,    facts->comm,      facts->args,
					  facts->cgroup, facts->container, facts->pod};

	for (size_t i = 0; i < KEYS; i++)
		if (!strcmp(key, keys[i]))
			return values[i];
	return variable(facts, key + sizeof(ENV) - 1);
}

static bool holds(const struct rule *rule, const struct service_facts *facts)
{
	for (size_t i = 0; i < rule->patterns; i++) {
		const char *value = fact(facts, rule->pattern[i].key);

		if (!value || fnmatch(rule->pattern[i].glob, value, 0) != 0)
			return false;
	}
	return true;
}

void service_rules_apply(const struct service_rules *rules, const struct service_facts *facts,
			 char attributes[ATTRIBUTES_MAX])
{
	for (size_t i = 0; rules && i < rules->count; i++) {
		const char *at = rules->rule[i].attributes;
		struct attribute said;

		if (!holds(&rules->rule[i], facts))
			continue;
		while (attributes_next(&at, &said))
			attributes_add(attributes, said.key, said.key_length, said.value,
				       said.value_length);
	}
}
