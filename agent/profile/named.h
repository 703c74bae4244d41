/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of functions that runtimes know. They are read out of the process soon after the sample,
 * once for each code object while it lives.
 */
#ifndef CTXPROP_PROFILE_NAMED_H
#define CTXPROP_PROFILE_NAMED_H

#include <stdbool.h>

#include "profile/unique.h"
#include "runtimes/names.h"

struct named;

/* NULL: no memory. */
struct named *named_new(void);
void named_free(struct named *named);

#define NAMED_NOTHING (-1L)

/*
 * The number of the text (named_text.h) of a function in named_texts(), or of what stands for one
 * whose name cannot be told, without a file; 0: no memory; NAMED_NOTHING: none was put into the
 * function behind it, or it cannot be told (`is_inner`). `ret_has_outer`: a compiler has put it
 * into another one, whose depth is one more.
 */
long named_get(struct named *named, const struct named_code *code, bool *ret_has_outer);

/* The texts by the numbers of named_get(). */
const struct unique *named_texts(const struct named *named);

/* Names that were not read: the process had ended, or did not let itself be read in time. */
__u64 named_unread(const struct named *named);

#endif
