// SPDX-License-Identifier: Apache-2.0
#include <assert.h>
#include <getopt.h>
#include <string.h>

#include "base/option.h"

#define COLUMNS      80
#define HELP_COLUMN  25
#define LONG_ONLY    256 /* what getopt_long() returns for the first row; beyond all letters */
#define HEADING_SIZE 128

void option_add(struct option_list *list, const struct option_row *rows)
{
	for (; rows->name; rows++) {
		bool is_there = option_find(list, rows->name);

		for (size_t i = 0; i < list->count; i++)
			is_there |= rows->letter && list->row[i]->letter == rows->letter;
		if (is_there)
			continue;
		assert(list->count < OPTION_LIST_MAX);
		list->row[list->count++] = rows;
	}
}

/* The place of a name in a list; its length: it is not there. */
static size_t place_of(const struct option_list *list, const char *name)
{
	size_t i = 0;

	while (i < list->count && strcmp(list->row[i]->name, name) != 0)
		i++;
	return i;
}

const struct option_row *option_find(const struct option_list *list, const char *name)
{
	const size_t place = place_of(list, name);

	return place < list->count ? list->row[place] : NULL;
}

/* In the terms of getopt_long(). */
static int argument_of(const struct option_row *row)
{
	if (!row->argument)
		return no_argument;
	return *row->argument == '[' ? optional_argument : required_argument;
}

/* The place of what getopt_long() has returned; the length of the list: it has complained. */
static size_t place_read(const struct option_list *list, int option)
{
	size_t i = 0;

	if (option >= LONG_ONLY)
		return (size_t)(option - LONG_ONLY);
	while (i < list->count && list->row[i]->letter != option)
		i++;
	return i;
}

static struct option_origin origin_now; /* of the option whose set() runs */

int option_apply(const struct option_row *row, const char *argument,
		 const struct option_origin *origin)
{
	origin_now = *origin;
	if (row->flag)
		*row->flag = true;
	if (row->text)
		*row->text = argument;
	if (row->given)
		*row->given = row->name;
	return row->set ? row->set(row, argument) : 0;
}

void option_said(const struct option_row *row, const char *argument, char *ret, size_t size)
{
	if (origin_now.file)
		snprintf(ret, size, "%s:%u: %s = %s", origin_now.file, origin_now.line, row->name,
			 argument);
	else
		snprintf(ret, size, "--%s %s", row->name, argument);
}

int option_each(const struct option_list *list, int argc, char **argv, bool only_first,
		int (*visit)(const struct option_list *list, size_t place, const char *argument,
			     void *data),
		void *data)
{
	struct option options[OPTION_LIST_MAX + 1] = {};
	char letters[3 * OPTION_LIST_MAX + 2], *end = letters;
	const struct option_row *row;
	int option, result = 0;
	size_t place;

	if (only_first)
		*end++ = '+';
	for (size_t i = 0; i < list->count; i++) {
		row = list->row[i];
		/* To getopt_long(), beginnings of two names are ambiguous if their numbers differ.
		 */
		place = row->alias ? place_of(list, row->alias) : i;
		options[i] =
		    (struct option){row->name, argument_of(row), NULL, LONG_ONLY + (int)place};
		if (!row->letter)
			continue;
		*end++ = row->letter;
		for (int colons = argument_of(row); colons; colons--)
			*end++ = ':';
	}
	*end = '\0';
	optind = 0; /* glibc: begin anew */
	while (!result && (option = getopt_long(argc, argv, letters, options, NULL)) != -1) {
		place = place_read(list, option);
		result = place < list->count ? visit(list, place, optarg, data) : OPTION_REFUSED;
	}
	return result;
}

static int apply(const struct option_list *list, size_t place, const char *argument, void *data)
{
	return option_apply(list->row[place], argument, data);
}

int option_read(const struct option_list *list, int argc, char **argv, bool only_first)
{
	struct option_origin command_line = {};

	return option_each(list, argc, argv, only_first, apply, &command_line);
}

/* Word by word, in lines that begin in HELP_COLUMN; the first one is there already. */
static void print_wrapped(FILE *file, const char *text)
{
	size_t column = HELP_COLUMN;

	while (*text) {
		size_t length = strcspn(text, " ");
		bool is_first = column == HELP_COLUMN;

		if (!is_first && column + 1 + length > COLUMNS) {
			fprintf(file, "\n%*s", HELP_COLUMN, "");
			column = HELP_COLUMN;
			is_first = true;
		}
		fprintf(file, "%s%.*s", is_first ? "" : " ", (int)length, text);
		column += !is_first + length;
		text += length + strspn(text + length, " ");
	}
	fputc('\n', file);
}

static void print_row(FILE *file, const struct option_row *row)
{
	char heading[HEADING_SIZE], letter[] = {'-', row->letter, ',', '\0'};
	int used;

	used = snprintf(heading, sizeof(heading), "  %3s --%s%s%s", row->letter ? letter : "",
			row->name, argument_of(row) == required_argument ? " " : "",
			row->argument ? row->argument : "");
	if (used + 2 <= HELP_COLUMN)
		fprintf(file, "%-*s", HELP_COLUMN, heading);
	else
		fprintf(file, "%s\n%*s", heading, HELP_COLUMN, "");
	print_wrapped(file, row->help);
}

void option_print(FILE *file, const struct option_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->row[i]->help)
			print_row(file, list->row[i]);
}
