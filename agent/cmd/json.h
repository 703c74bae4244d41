/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CTXPROP_JSON_H
#define CTXPROP_JSON_H

#include <jansson.h>

#include "cmd/command.h"

/* Print a document on stdout and release it. Returns an exit code. */
int json_print(json_t *document);

/*
 * Say what a command has done: the document as JSON, which is released, or a line of text without
 * its end. Returns an exit code.
 */
__attribute__((format(printf, 3, 4))) int json_answer(const struct command_flags *flags,
						      json_t *document, const char *format, ...);

#endif
