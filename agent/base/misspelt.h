/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CTXPROP_MISSPELT_H
#define CTXPROP_MISSPELT_H

#include <stdbool.h>

/* Is a word a misspelling of a name, with one or two letters missing, added or wrong? */
bool misspelt(const char *word, const char *name);

#endif
