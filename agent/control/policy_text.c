// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "control/prefix.h"
#include "control/policy_text.h"

static const char *const dirs[POLICY_DIRS] = {
    [POLICY_OUT] = "out",
    [POLICY_IN] = "in",
    [POLICY_FORWARD] = "forward",
};

static const char *const actions[POLICY_ACTIONS] = {
    [POLICY_INJECT] = "inject", [POLICY_OBSERVE] = "observe", [POLICY_RESTART] = "restart",
    [POLICY_STRIP] = "strip",   [POLICY_SKIP] = "skip",       [POLICY_ACCEPT] = "accept",
    [POLICY_IGNORE] = "ignore",
};

const char *dir_text(enum policy_dir dir)
{
	return dirs[dir];
}

const char *action_text(enum policy_action action)
{
	return actions[action];
}

const char *end_text(char *buffer, const struct policy_end *end)
{
	char *to = buffer;

	if (end->negated)
		*to++ = '!';
	if (end->kind == POLICY_PREFIX)
		prefix_text(to, &end->prefix);
	else
		text_copy(to, POLICY_NAME_SIZE, end->kind == POLICY_SET ? end->set : "any");
	return buffer;
}

const char *sample_text(char *buffer, __u32 sample)
{
	size_t length;

	if (sample % POLICY_SAMPLE_ALL == 0) {
		text_copy(buffer, 2, sample ? "1" : "0");
		return buffer;
	}
	length = (size_t)sprintf(buffer, "0.%06u", sample % POLICY_SAMPLE_ALL);
	while (buffer[length - 1] == '0')
		buffer[--length] = '\0';
	return buffer;
}

/* Text that grows in a buffer of POLICY_RULE_TEXT_MAX bytes, which a rule cannot fill. */
struct text {
	char *buffer;
	size_t used;
};

__attribute__((format(printf, 2, 3))) static void say(struct text *text, const char *format, ...)
{
	size_t left = POLICY_RULE_TEXT_MAX - text->used;
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(text->buffer + text->used, left, format, args);
	va_end(args);
	text->used += (size_t)length < left ? (size_t)length : left - 1;
}

static void say_end(struct text *text, const char *word, const struct policy_end *end)
{
	char buffer[POLICY_PREFIX_TEXT_MAX + 1];

	if (end->kind != POLICY_ANYONE)
		say(text, " %s %s", word, end_text(buffer, end));
}

static void say_ports(struct text *text, const struct policy_rule *rule)
{
	for (unsigned int i = 0; i < rule->port_count; i++) {
		say(text, "%s%u", i ? "," : " port ", rule->ports[i].first);
		if (rule->ports[i].first != rule->ports[i].last)
			say(text, "-%u", rule->ports[i].last);
	}
}

const char *rule_text(char *buffer, const struct policy_rule *rule)
{
	struct text text = {.buffer = buffer};
	char sample[16];

	say(&text, "dir %s", dir_text(rule->dir));
	if (rule->device[0])
		say(&text, " dev %s", rule->device);
	say_end(&text, "from", &rule->from);
	say_end(&text, "to", &rule->to);
	say_ports(&text, rule);
	if (rule->cgroup[0])
		say(&text, " cgroup %s", rule->cgroup);
	if (rule->host[0])
		say(&text, " host %s", rule->host);
	say(&text, " action %s", action_text(rule->action));
	if (rule->sample != POLICY_SAMPLE_ALL)
		say(&text, " sample %s", sample_text(sample, rule->sample));
	if (rule->no_root)
		say(&text, " root no");
	if (rule->no_tracestate)
		say(&text, " tracestate no");
	return buffer;
}
