/* SPDX-License-Identifier: Apache-2.0 */
/* A list of names as a text with a line for each. NULL is an empty list. */
#ifndef CTXPROP_NAMES_H
#define CTXPROP_NAMES_H

#include <stdbool.h>

/* Is there a line with just this name? */
bool names_have(const char *names, const char *name);

/* Add a name unless it is there. 0 or -ENOMEM. The caller frees *names. */
int names_add(char **names, const char *name);

/* Take a name out, if it is there. */
void names_remove(char *names, const char *name);

#endif
