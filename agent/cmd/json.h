/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CTXPROP_JSON_H
#define CTXPROP_JSON_H

#include <jansson.h>

/* Print a document on stdout and release it. Returns an exit code. */
int json_print(json_t *document);

#endif
