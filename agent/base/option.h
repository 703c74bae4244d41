/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of a command line. Each is one row: getopt_long(), --help and, by way of that, the
 * completion of the shell are made of it, and a check holds the manual against it.
 */
#ifndef CTXPROP_OPTION_H
#define CTXPROP_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define OPTION_LIST_MAX 48
#define OPTION_REFUSED  (-1) /* getopt_long() has complained */

#define OPTION_ONLY_WORDS 1UL /* for the command line only, in no file */
#define OPTION_REPEATS    2UL /* each time it is given it adds something */

struct option_row {
	const char *name; /* --name; NULL ends the rows */
	char letter;      /* -letter; 0: none */
	/*
	 * As --help shows it: "FILE", or "tcx|clsact|auto" for all that it may be; "[=WHEN]": it
	 * may be left out. NULL: the option takes none.
	 */
	const char *argument;
	const char *help; /* without line breaks; NULL: --help leaves it out */
	/*
	 * The name of the option for which this is another name: a beginning of both is that
	 * option. It takes an argument as that does; nothing below is looked at.
	 */
	const char *alias;
	unsigned long traits; /* OPTION_* */
	/* What the option does. */
	bool *flag;         /* becomes true */
	const char **text;  /* becomes the argument */
	const char **given; /* becomes the name: which of several options was the last one */
	int (*set)(const struct option_row *row, const char *argument); /* 0: go on, or an end */
};

struct option_list {
	const struct option_row *row[OPTION_LIST_MAX];
	size_t count;
};

/*
 * Add rows, which must outlive the list. One whose name or letter the list already has is left out.
 */
void option_add(struct option_list *list, const struct option_row *rows);

/* The row of that name, or NULL. */
const struct option_row *option_find(const struct option_list *list, const char *name);

/*
 * Call `visit` with the place in the list and the argument of each option of a command line, until
 * it returns other than 0. Returns that; 0: there are no more; or OPTION_REFUSED.
 */
int option_each(const struct option_list *list, int argc, char **argv, bool only_first,
		int (*visit)(const struct option_list *list, size_t place, const char *argument,
			     void *data),
		void *data);

/*
 * Read the options of a command line, which may stand behind other words unless `only_first`.
 * Returns 0 when all were read, and `optind` is that of the first other word; or what a set() has
 * returned, if that is not 0; or OPTION_REFUSED.
 */
int option_read(const struct option_list *list, int argc, char **argv, bool only_first);

/* Where options are read from; no file: the command line. */
struct option_origin {
	const char *file;
	unsigned int line;
};

/* Do what an option does. Returns what its set() has returned, or 0. */
int option_apply(const struct option_row *row, const char *argument,
		 const struct option_origin *origin);

/*
 * For complaints of a set(): "--flows x" as it stands on the command line, "FILE:3: flows = x" as
 * it stands in a file.
 */
void option_said(const struct option_row *row, const char *argument, char *ret, size_t size);

/* Print what --help says of them, 80 columns wide. */
void option_print(FILE *file, const struct option_list *list);

#endif
