// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "control/policy_model.h"
#include "control/policy_sets.h"
#include "control/policy_text.h"
#include "control/prefix.h"

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

#define PORT_MAX       65535
#define PORTS_TEXT_MAX 128

/* A rule in the making. */
struct parse {
	struct policy_rule *rule;
	struct policy_error *error;
	bool said_dir;
};

#define WRONG(parse, ...) policy_fail((parse)->error, -EINVAL, __VA_ARGS__)

static int take_prio(struct parse *parse, const char *value)
{
	unsigned long prio;

	if (number_parse(value, 0, POLICY_PRIO_MAX, &prio))
		return WRONG(parse, "expected a number from 0 to %d", POLICY_PRIO_MAX);
	parse->rule->prio = (__u32)prio;
	return 0;
}

static int take_dir(struct parse *parse, const char *value)
{
	for (enum policy_dir dir = 0; dir < POLICY_DIRS; dir++) {
		if (!strcmp(value, dir_text(dir))) {
			parse->rule->dir = dir;
			parse->said_dir = true;
			return 0;
		}
	}
	return WRONG(parse, "expected out, in or forward");
}

static int take_action(struct parse *parse, const char *value)
{
	for (enum policy_action action = 0; action < POLICY_ACTIONS; action++) {
		if (!strcmp(value, action_text(action))) {
			parse->rule->action = action;
			return 0;
		}
	}
	return WRONG(parse, "expected inject, observe, restart, strip, skip, accept or ignore");
}

/* Names and paths must be printable, without blanks or quotes, which would split them. */
static bool is_word(const char *value)
{
	for (; *value; value++)
		if (*value <= ' ' || *value > '~' || strchr("#\"'\\", *value))
			return false;
	return true;
}

static int take_dev(struct parse *parse, const char *value)
{
	size_t length = strlen(value);

	if (!length || length >= POLICY_DEVICE_SIZE || !is_word(value) || strchr(value, '/'))
		return WRONG(parse, "expected the name of a network device");
	text_copy(parse->rule->device, sizeof(parse->rule->device), value);
	return 0;
}

static int parse_prefix(struct policy_error *error, const char *value, struct policy_prefix *ret)
{
	char text[POLICY_PREFIX_TEXT_MAX];
	int err = prefix_parse(value, ret);

	if (err == -EDOM)
		return policy_fail(error, -EINVAL,
				   "bits are set behind the prefix; the network is %s",
				   prefix_text(text, ret));
	if (err)
		return policy_fail(error, -EINVAL,
				   "expected a network such as 10.0.0.0/8 or fd00::/8");
	return 0;
}

static int take_end(struct parse *parse, const char *value, struct policy_end *end)
{
	*end = (struct policy_end){};
	if (*value == '!') {
		end->negated = true;
		value++;
	}
	if (!strcmp(value, "any") || !strcmp(value, "all"))
		return end->negated ? WRONG(parse, "'!any' would fit nothing") : 0;
	if (policy_is_set_name(value)) {
		end->kind = POLICY_SET;
		text_copy(end->set, sizeof(end->set), value);
		return 0;
	}
	end->kind = POLICY_PREFIX;
	if (!strpbrk(value, ".:/"))
		return WRONG(parse, "expected any, a network (10.0.0.0/8) or the name of a set");
	return parse_prefix(parse->error, value, &end->prefix);
}

static int take_from(struct parse *parse, const char *value)
{
	return take_end(parse, value, &parse->rule->from);
}

static int take_to(struct parse *parse, const char *value)
{
	return take_end(parse, value, &parse->rule->to);
}

/* "80" or "8000-8999"; the text is cut at the dash. 0 or -EINVAL. */
static int read_ports(char *text, struct policy_ports *ret)
{
	char *dash = strchr(text, '-');
	unsigned long first, last;

	if (dash)
		*dash++ = '\0';
	if (number_parse(text, 0, PORT_MAX, &first) ||
	    number_parse(dash ? dash : text, 0, PORT_MAX, &last))
		return -EINVAL;
	*ret = (struct policy_ports){(__u16)first, (__u16)last};
	return 0;
}

/* One port or range of a list. */
static int add_ports(struct parse *parse, char *text)
{
	struct policy_rule *rule = parse->rule;
	struct policy_ports ports;

	if (read_ports(text, &ports))
		return WRONG(parse,
			     "expected a port (80), ports (8000-8999), or a list of these "
			     "(80,443), from 0 to %d",
			     PORT_MAX);
	if (ports.first > ports.last)
		return WRONG(parse, "the first port is the larger one");
	if (rule->port_count == POLICY_PORTS_MAX)
		return WRONG(parse, "expected no more than %d ranges of ports", POLICY_PORTS_MAX);
	rule->ports[rule->port_count++] = ports;
	return 0;
}

static int take_port(struct parse *parse, const char *value)
{
	struct policy_rule *rule = parse->rule;
	char text[PORTS_TEXT_MAX], *rest = text;
	int err = 0;

	if (strlen(value) >= sizeof(text))
		return WRONG(parse, "expected no more than %d ranges of ports", POLICY_PORTS_MAX);
	text_copy(text, sizeof(text), value);
	while (!err && rest)
		err = add_ports(parse, strsep(&rest, ","));
	/* All ports are any. */
	if (rule->port_count == 1 && !rule->ports[0].first && rule->ports[0].last == PORT_MAX)
		rule->port_count = 0;
	return err;
}

static int take_cgroup(struct parse *parse, const char *value)
{
	size_t length = strlen(value);

	while (length > 1 && value[length - 1] == '/')
		length--;
	if (value[0] != '/' || length >= POLICY_CGROUP_SIZE || !is_word(value) ||
	    strstr(value, "/../") || strstr(value, "//"))
		return WRONG(parse,
			     "expected the path of a cgroup, such as "
			     "/system.slice/nginx.service, of less than %d characters",
			     POLICY_CGROUP_SIZE);
	memcpy(parse->rule->cgroup, value, length);
	parse->rule->cgroup[length] = '\0';
	return 0;
}

static bool is_host(const char *value)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789-_.";
	size_t length = strspn(value, allowed);

	return length && !value[length] && value[0] != '.' && value[length - 1] != '.' &&
	       !strstr(value, "..");
}

static int take_host(struct parse *parse, const char *value)
{
	char *host = parse->rule->host;

	if (strlen(value) >= POLICY_HOST_SIZE)
		return WRONG(parse, "expected less than %d characters", POLICY_HOST_SIZE);
	text_copy(host, POLICY_HOST_SIZE, value);
	for (char *c = host; *c; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c |= 'a' - 'A';
	if (!is_host(!strncmp(host, "*.", 2) ? host + 2 : host))
		return WRONG(parse, "expected the name of a host, without port, or *.SUFFIX");
	return 0;
}

/* No floating point: a ratio is printed exactly as it was read. */
int sample_parse(const char *text, __u32 *ret)
{
	__u32 sample = 0, unit = POLICY_SAMPLE_ALL;
	const char *digit = text;

	if (*digit == '0' || *digit == '1')
		sample = (__u32)(*digit++ - '0') * unit;
	if (digit != text && *digit == '.') {
		for (digit++; *digit >= '0' && *digit <= '9' && unit > 1; digit++) {
			unit /= 10;
			sample += (__u32)(*digit - '0') * unit;
		}
	}
	if (digit == text || *digit || digit[-1] == '.' || sample > POLICY_SAMPLE_ALL)
		return -EINVAL;
	*ret = sample;
	return 0;
}

static int take_sample(struct parse *parse, const char *value)
{
	if (sample_parse(value, &parse->rule->sample))
		return WRONG(parse, "expected " SAMPLE_WANTED);
	return 0;
}

static int take_yes(struct parse *parse, const char *value, bool *ret_no)
{
	*ret_no = !strcmp(value, "no");
	return *ret_no || !strcmp(value, "yes") ? 0 : WRONG(parse, "expected yes or no");
}

static int take_root(struct parse *parse, const char *value)
{
	return take_yes(parse, value, &parse->rule->no_root);
}

static int take_tracestate(struct parse *parse, const char *value)
{
	return take_yes(parse, value, &parse->rule->no_tracestate);
}

static const struct {
	const char *word;
	int (*take)(struct parse *parse, const char *value);
} parts[] = {
    {"prio", take_prio}, {"dir", take_dir},       {"dev", take_dev},
    {"from", take_from}, {"to", take_to},         {"port", take_port},
    {"host", take_host}, {"cgroup", take_cgroup}, {"action", take_action},
    {"root", take_root}, {"sample", take_sample}, {"tracestate", take_tracestate},
};
#define PARTS (sizeof(parts) / sizeof(parts[0]))

static int take_part(struct parse *parse, const char *word, const char *value, unsigned int *seen)
{
	for (size_t i = 0; i < PARTS; i++) {
		if (strcmp(word, parts[i].word) != 0)
			continue;
		if (*seen & 1U << i)
			return WRONG(parse, "said twice");
		*seen |= 1U << i;
		parse->error->word += value != NULL;
		return value ? parts[i].take(parse, value)
			     : WRONG(parse, "a value is missing behind it");
	}
	return WRONG(parse,
		     "expected prio, dir, dev, from, to, port, cgroup, host, action, sample, "
		     "root or tracestate");
}

int rule_parse(const char *const *words, size_t count, struct policy_rule *ret,
	       struct policy_error *error)
{
	struct parse parse = {.rule = ret, .error = error};
	unsigned int seen = 0;
	bool inbound;

	policy_rule_init(ret);
	ret->prio = POLICY_PRIO_UNSAID;
	ret->action = POLICY_ACTIONS;
	for (size_t i = 0; i < count; i += 2) {
		int err;

		error->word = i;
		err = take_part(&parse, words[i], i + 1 < count ? words[i + 1] : NULL, &seen);
		if (err)
			return err;
	}
	error->word = count ? count - 1 : 0;
	if (ret->action == POLICY_ACTIONS)
		return WRONG(&parse, "'action ACTION' is missing");
	inbound = ret->action == POLICY_ACCEPT || ret->action == POLICY_IGNORE;
	if (!parse.said_dir && inbound)
		ret->dir = POLICY_IN;
	return 0;
}

/* A part of a rule, written as one word and read again. */
static int read_again(struct policy_rule *rule, const char *word, const char *value)
{
	struct policy_error error = {};
	struct parse parse = {.rule = rule, .error = &error};
	unsigned int seen = 0;

	return value[0] ? take_part(&parse, word, value, &seen) : 0;
}

static bool end_is_text(const struct policy_end *end)
{
	switch (end->kind) {
	case POLICY_ANYONE:
		return !end->negated;
	case POLICY_SET:
		return policy_is_set_name(end->set) && !end->prefix.bits;
	default:
		return !end->set[0];
	}
}

bool rule_is_text(const struct policy_rule *rule)
{
	struct policy_rule again;

	policy_rule_init(&again);
	return (unsigned int)rule->dir < POLICY_DIRS &&
	       (unsigned int)rule->action < POLICY_ACTIONS && end_is_text(&rule->from) &&
	       end_is_text(&rule->to) && !read_again(&again, "dev", rule->device) &&
	       !read_again(&again, "cgroup", rule->cgroup) &&
	       !read_again(&again, "host", rule->host) && !strcmp(again.device, rule->device) &&
	       !strcmp(again.cgroup, rule->cgroup) && !strcmp(again.host, rule->host);
}

int set_parse(const char *name, const char *const *words, size_t count, struct policy_set *ret,
	      struct policy_error *error)
{
	*ret = (struct policy_set){};
	error->word = 0;
	if (!policy_is_set_name(name))
		return policy_fail(error, -EINVAL,
				   "expected the name of a set: a lowercase letter, then "
				   "lowercase letters, digits, - or _");
	text_copy(ret->name, sizeof(ret->name), name);
	ret->prefixes = calloc(count ? count : 1, sizeof(*ret->prefixes));
	if (!ret->prefixes)
		return policy_fail(error, -ENOMEM, "out of memory");
	for (; ret->count < count; ret->count++) {
		int err;

		error->word = ret->count;
		err = parse_prefix(error, words[ret->count], &ret->prefixes[ret->count]);
		if (err)
			return err;
	}
	return 0;
}
