/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options in a file: one a line, `name = value`, by their long names; "yes" or "no" for those that
 * take no argument on the command line. "#" at the beginning of a line or behind a blank begins a
 * comment.
 */
#ifndef CTXPROP_OPTION_FILE_H
#define CTXPROP_OPTION_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/option.h"

struct option_file {
	const char *name; /* stands in complaints */
	char *text;       /* is changed; must live as long as what the rows have been told */
	size_t size;      /* without the NUL that ends it */
	const bool
	    *given; /* by place in the list: said elsewhere, so that it does not count here */
};

/*
 * Apply what a file says. Every wrong line is complained of on stderr, with what would be right,
 * and has no effect. Returns how many there were.
 */
unsigned int option_file_read(const struct option_list *list, const struct option_file *file);

#endif
