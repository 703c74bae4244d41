/* SPDX-License-Identifier: Apache-2.0 */
/* Colours of what is printed on a terminal, used as iproute2 uses its own. */
#ifndef CTXPROP_CMD_COLOUR_H
#define CTXPROP_CMD_COLOUR_H

enum colour_mode { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

/* What a piece of text is. */
enum colour { COLOUR_PLAIN, COLOUR_NAME, COLOUR_ADDRESS, COLOUR_GOOD, COLOUR_CAUTION, COLOUR_BAD };

/* What `--color` says; NULL: it was given without a word. 0 or -EINVAL. */
int colour_parse(const char *text, enum colour_mode *ret);

/* For all that is printed from now on. Auto: on a terminal, unless NO_COLOR is set. */
void colour_set(enum colour_mode mode);

/* printf() in a colour. */
__attribute__((format(printf, 2, 3))) void colour_print(enum colour colour, const char *format,
							...);

#endif
