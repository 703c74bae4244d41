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

static const struct option_row *row_of(const struct option_list *list, int option)
{
	if (option >= LONG_ONLY)
		return list->row[option - LONG_ONLY];
	for (size_t i = 0; i < list->count; i++)
		if (list->row[i]->letter == option)
			return list->row[i];
	return NULL;
}

static int apply(const struct option_row *row, const char *argument)
{
	if (row->flag)
		*row->flag = true;
	if (row->text)
		*row->text = argument;
	if (row->given)
		*row->given = row->name;
	return row->set ? row->set(row, argument) : 0;
}

int option_read(const struct option_list *list, int argc, char **argv, bool only_first)
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
		row = row_of(list, option);
		result = row ? apply(row, optarg) : OPTION_REFUSED;
	}
	return result;
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
