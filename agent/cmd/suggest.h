/* SPDX-License-Identifier: Apache-2.0 */
/* Suggestions for a word that is not known. */
#ifndef CTXPROP_CMD_SUGGEST_H
#define CTXPROP_CMD_SUGGEST_H

#include <stdbool.h>

/* Is a word a misspelling of a name, with one or two letters missing, added or wrong? */
bool suggest_is_near(const char *word, const char *name);

/*
 * The command for a name that other programs use for it, as words behind "ctxprop "; NULL: none is
 * known.
 */
const char *suggest_alias(const char *word);

#endif
