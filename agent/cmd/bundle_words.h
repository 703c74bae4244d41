/* SPDX-License-Identifier: Apache-2.0 */
/* What a bundle may tell of options. */
#ifndef CTXPROP_CMD_BUNDLE_WORDS_H
#define CTXPROP_CMD_BUNDLE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#define BUNDLE_LEFT_OUT "(left out)"

/*
 * Copy a word of a command line, or a line of a file of options, without what may be a secret: of
 * each URL what stands before "@" in its authority, and everything behind that but /v1/traces.
 */
void bundle_word(const char *word, char *ret, size_t size);

/* Is it a line `name = value`? Its comment is cut off then. */
bool bundle_is_option(char *line);

#endif
