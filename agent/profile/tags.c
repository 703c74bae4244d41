// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "profile/tags_rule.h"

#define LINE_MAX_BYTES 1024
#define FILE_MAX_BYTES (1UL << 20)
#define BLANKS         " \t\r"

/* Verbs, and the word before the name. */
static const struct {
	const char *verb, *separator, *form;
} verbs[] = {
    [TAG_MATCH] = {"match", "tag", "match REGEX tag NAME"},
    [TAG_DROP] = {"drop", NULL, "drop REGEX"},
    [TAG_FOLD] = {"fold", "as", "fold REGEX as NAME"},
};
#define VERBS (sizeof(verbs) / sizeof(verbs[0]))

/* A line that is being read. */
struct reading {
	struct tags *tags;
	size_t line; /* its number */
	char *why;
};

__attribute__((format(printf, 2, 3))) static int refuse(const struct reading *reading,
							const char *format, ...)
{
	int length = snprintf(reading->why, TAGS_WHY_MAX, "line %zu: ", reading->line);
	va_list args;

	va_start(args, format);
	vsnprintf(reading->why + length, TAGS_WHY_MAX - (size_t)length, format, args);
	va_end(args);
	return -EINVAL;
}

/* Without blanks at both ends. */
static char *trim(char *text)
{
	size_t length;

	text += strspn(text, BLANKS);
	length = strlen(text);
	while (length && strchr(BLANKS, text[length - 1]))
		length--;
	text[length] = '\0';
	return text;
}

/* The last " WORD " of a text, for an expression may hold the word, too; NULL: there is none. */
static char *find_separator(char *text, const char *word)
{
	const size_t length = strlen(word);
	char *found = NULL;

	for (char *at = strstr(text, word); at; at = strstr(at + 1, word))
		if (at > text && strchr(BLANKS, at[-1]) && at[length] && strchr(BLANKS, at[length]))
			found = at;
	return found;
}

/* Cut a name off behind the separator. */
static int take_name(const struct reading *reading, struct tag_rule *rule, char *rest)
{
	const char *word = verbs[rule->verb].separator;
	char *separator = word ? find_separator(rest, word) : NULL, *name;

	if (!word)
		return 0;
	if (!separator)
		return refuse(reading, "expected '%s'", verbs[rule->verb].form);
	*separator = '\0';
	name = trim(separator + strlen(word));
	if (!*name)
		return refuse(reading, "a name is missing: expected '%s'", verbs[rule->verb].form);
	rule->name = strdup(name);
	return rule->name ? 0 : -ENOMEM;
}

static int take_expression(const struct reading *reading, struct tag_rule *rule, char *text)
{
	static const char prefix[] = "file:";
	char why[128];
	int err;

	rule->of_file = !strncmp(text, prefix, sizeof(prefix) - 1);
	if (rule->of_file)
		text += sizeof(prefix) - 1;
	if (!*text)
		return refuse(reading, "a regular expression is missing: expected '%s'",
			      verbs[rule->verb].form);
	err = regcomp(&rule->expression, text, REG_EXTENDED | REG_NOSUB);
	if (!err)
		return 0;
	if (err == REG_ESPACE)
		return -ENOMEM;
	regerror(err, &rule->expression, why, sizeof(why));
	return refuse(reading, "'%.64s' is no extended regular expression: %s", text, why);
}

static int take_rule(const struct reading *reading, enum tag_verb verb, char *rest)
{
	struct tags *tags = reading->tags;
	struct tag_rule *rule = &tags->rule[tags->count];
	int err;

	if (tags->count == TAGS_MAX)
		return refuse(reading, "there are more than %d rules", TAGS_MAX);
	*rule = (struct tag_rule){.verb = verb};
	err = take_name(reading, rule, rest);
	if (!err)
		err = take_expression(reading, rule, trim(rest));
	if (err)
		free(rule->name);
	else
		tags->count++;
	return err;
}

static int take_line(const struct reading *reading, char *line)
{
	char *words = trim(line);
	const size_t length = strcspn(words, BLANKS);

	if (!*words || *words == '#')
		return 0;
	for (size_t i = 0; i < VERBS; i++)
		if (strlen(verbs[i].verb) == length && !strncmp(words, verbs[i].verb, length))
			return take_rule(reading, (enum tag_verb)i, words + length);
	return refuse(reading, "'%.*s': expected match, drop or fold",
		      (int)(length < 32 ? length : 32), words);
}

static int take_lines(struct reading *reading, const char *text, size_t size)
{
	const char *end = text + size;
	int err = 0;

	for (const char *next; !err && text < end; text = next) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const size_t length = (size_t)((newline ? newline : end) - text);
		char line[LINE_MAX_BYTES];

		next = newline ? newline + 1 : end;
		reading->line++;
		if (length >= sizeof(line))
			return refuse(reading, "it is longer than %d bytes", LINE_MAX_BYTES - 1);
		if (memchr(text, '\0', length))
			return refuse(reading, "it holds a NUL: the file is no text");
		memcpy(line, text, length);
		line[length] = '\0';
		err = take_line(reading, line);
	}
	return err;
}

int tags_parse(const char *text, size_t size, struct tags **ret, char *ret_why)
{
	struct reading reading = {.tags = calloc(1, sizeof(struct tags)), .why = ret_why};
	int err = reading.tags ? take_lines(&reading, text, size) : -ENOMEM;

	if (err)
		tags_free(reading.tags);
	else
		*ret = reading.tags;
	return err;
}

int tags_read(const char *file, struct tags **ret, char *ret_why)
{
	_cleanup_free_ char *text = malloc(FILE_MAX_BYTES);
	FILE *in = fopen(file, "re");
	size_t size;
	int err;

	*ret_why = '\0';
	if (!in || !text) {
		err = in ? -ENOMEM : -errno;
		if (in)
			fclose(in);
		return err;
	}
	errno = 0;
	size = fread(text, 1, FILE_MAX_BYTES, in);
	err = ferror(in) ? -(errno ? errno : EIO) : 0;
	fclose(in);
	if (!err && size == FILE_MAX_BYTES)
		err = -EFBIG;
	return err ? err : tags_parse(text, size, ret, ret_why);
}

void tags_free(struct tags *tags)
{
	for (size_t i = 0; tags && i < tags->count; i++) {
		regfree(&tags->rule[i].expression);
		free(tags->rule[i].name);
	}
	free(tags);
}
