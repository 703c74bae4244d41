/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces parts of requests' texts that match a pattern, and that nobody is to see. */
#ifndef CTXPROP_REDACT_H
#define CTXPROP_REDACT_H

#include <stddef.h>

#define REDACT_MAX  16 /* patterns */
#define REDACT_TEXT "{redacted}"

struct redact;

/* NULL: no memory. */
struct redact *redact_new(void);
void redact_free(struct redact *redact);

/*
 * One more pattern, an extended regular expression of POSIX (regex(7)). 0; -EINVAL, after the
 * reason was written to `ret_why`: it is none, or fits the empty text; -ENOSPC: there are too many.
 */
int redact_add(struct redact *redact, const char *pattern, char *ret_why, size_t size);

/* Replace whatever fits in `text`; what does not fit into its `size` bytes then is cut. */
void redact_apply(const struct redact *redact, char *text, size_t size);

#endif
