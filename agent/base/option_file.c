// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/misspelt.h"
#include "base/option_file.h"

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyz0123456789-"
#define NAME_LENGTH_MAX 40

struct reading {
	const struct option_list *list;
	const struct option_file *file;
	unsigned int line;                  /* from 1 on */
	unsigned int said[OPTION_LIST_MAX]; /* by place: in which line; 0: not yet */
};

__attribute__((format(printf, 2, 3))) static int complain(const struct reading *reading,
							  const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s: %s:%u: ", program_invocation_short_name, reading->file->name,
		reading->line);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return -EINVAL;
}

static char *trimmed(char *text)
{
	size_t length;

	while (isspace((unsigned char)*text))
		text++;
	length = strlen(text);
	while (length && isspace((unsigned char)text[length - 1]))
		length--;
	text[length] = '\0';
	return text;
}

static void cut_comment(char *line)
{
	for (char *at = line; (at = strchr(at, '#')); at++) {
		if (at == line || isspace((unsigned char)at[-1])) {
			*at = '\0';
			return;
		}
	}
}

static bool is_name(const char *text)
{
	size_t length = strspn(text, NAME_CHARACTERS);

	return length && length <= NAME_LENGTH_MAX && !text[length];
}

static bool is_offered(const struct option_row *row)
{
	return row->help && !(row->traits & OPTION_ONLY_WORDS) && !row->alias;
}

static int complain_unknown(const struct reading *reading, const char *name)
{
	for (size_t i = 0; i < reading->list->count; i++) {
		const struct option_row *row = reading->list->row[i];

		if (is_offered(row) && misspelt(name, row->name))
			return complain(reading, "'%s' is no option; did you mean %s?", name,
					row->name);
	}
	return complain(reading, "'%s' is no option; --help has their names", name);
}

/* How the value of an option is called. */
static const char *argument_name(const struct option_row *row)
{
	return row->argument ? row->argument : "yes|no";
}

/* The place of the option of that name. Complains, and returns -EINVAL, if it cannot stand here. */
static int find(const struct reading *reading, const char *name, size_t *ret_place)
{
	const struct option_row *row = option_find(reading->list, name);

	if (row && row->alias)
		row = option_find(reading->list, row->alias);
	if (!row)
		return complain_unknown(reading, name);
	if (row->traits & OPTION_ONLY_WORDS)
		return complain(reading, "'%s' is for the command line only", name);
	for (*ret_place = 0; reading->list->row[*ret_place] != row;)
		++*ret_place;
	return 0;
}

static int apply_flag(const struct reading *reading, const struct option_row *row,
		      const char *value, const struct option_origin *origin)
{
	if (!strcmp(value, "yes"))
		return option_apply(row, NULL, origin);
	return strcmp(value, "no") != 0
		   ? complain(reading, "%s = %s: expected yes or no", row->name, value)
		   : 0;
}

static int apply(const struct reading *reading, size_t place, char *value)
{
	const struct option_row *row = reading->list->row[place];
	const struct option_origin origin = {reading->file->name, reading->line};

	if (!*value)
		return complain(reading, "no value; expected %s = %s", row->name,
				argument_name(row));
	if (reading->said[place] && !(row->traits & OPTION_REPEATS))
		return complain(reading, "%s has a value in line %u already", row->name,
				reading->said[place]);
	if (reading->file->given && reading->file->given[place])
		return 0;
	return row->argument ? option_apply(row, value, &origin)
			     : apply_flag(reading, row, value, &origin);
}

/* 0, also for a line without contents; or else it was complained of. */
static int read_line(struct reading *reading, char *line)
{
	char *equals, *name;
	size_t place = 0;
	int err;

	cut_comment(line);
	name = trimmed(line);
	if (!*name)
		return 0;
	equals = strchr(name, '=');
	if (equals)
		*equals = '\0';
	name = trimmed(name);
	if (!is_name(name))
		return complain(reading, "expected NAME = VALUE, with the name of an option");
	err = find(reading, name, &place);
	if (err)
		return err;
	if (!equals)
		return complain(reading, "expected %s = %s", name,
				argument_name(reading->list->row[place]));
	err = apply(reading, place, trimmed(equals + 1));
	reading->said[place] = reading->line;
	return err;
}

unsigned int option_file_read(const struct option_list *list, const struct option_file *file)
{
	struct reading reading = {.list = list, .file = file};
	char *next = file->text;
	unsigned int wrong = 0;

	if (strlen(file->text) != file->size) {
		reading.line = 1;
		complain(&reading, "it is no text: it has a byte 0");
		return 1;
	}
	while (next) {
		char *line = strsep(&next, "\n");

		reading.line++;
		wrong += read_line(&reading, line) != 0;
	}
	return wrong;
}
