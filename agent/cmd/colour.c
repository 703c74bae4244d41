// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/colour.h"

static bool coloured;

/* Of the terminal's own colours, as ip(8) takes them: cyan, magenta, green, yellow, red. */
static const char *const codes[] = {
    [COLOUR_PLAIN] = "",        [COLOUR_NAME] = "\033[36m",    [COLOUR_ADDRESS] = "\033[35m",
    [COLOUR_GOOD] = "\033[32m", [COLOUR_CAUTION] = "\033[33m", [COLOUR_BAD] = "\033[31m",
};

int colour_parse(const char *text, enum colour_mode *ret)
{
	static const char *const words[] = {
	    [COLOUR_AUTO] = "auto", [COLOUR_ALWAYS] = "always", [COLOUR_NEVER] = "never"};

	if (!text) {
		*ret = COLOUR_ALWAYS;
		return 0;
	}
	text += *text == '='; /* "-c=always" */
	for (enum colour_mode mode = COLOUR_AUTO; mode <= COLOUR_NEVER; mode++) {
		if (strcmp(text, words[mode]) != 0)
			continue;
		*ret = mode;
		return 0;
	}
	return -EINVAL;
}

static bool is_for_a_person(void)
{
	const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");

	return isatty(STDOUT_FILENO) && (!no_colour || !no_colour[0]) && terminal &&
	       strcmp(terminal, "dumb") != 0;
}

void colour_set(enum colour_mode mode)
{
	coloured = mode == COLOUR_ALWAYS || (mode == COLOUR_AUTO && is_for_a_person());
}

void colour_print(enum colour colour, const char *format, ...)
{
	bool apart = coloured && colour != COLOUR_PLAIN;
	va_list args;

	if (apart)
		fputs(codes[colour], stdout);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	if (apart)
		fputs("\033[0m", stdout);
}
