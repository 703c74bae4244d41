/* SPDX-License-Identifier: Apache-2.0 */
/* What was meant by a word that is not known. */
#ifndef CTXPROP_CMD_SUGGEST_H
#define CTXPROP_CMD_SUGGEST_H

#include <stdbool.h>

/* Does a word differ from a name by a slip: one or two letters missing, added or others? */
bool suggest_is_near(const char *word, const char *name);

/* What others call a command, as words behind "ctxprop "; NULL: nothing is known. */
const char *suggest_alias(const char *word);

#endif
