/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of functions that runtimes know. They are read out of the process soon after the sample,
 * once for each code object while it lives.
 */
#ifndef CTXPROP_PROFILE_NAMES_RUNTIME_FUNCTIONS_H
#define CTXPROP_PROFILE_NAMES_RUNTIME_FUNCTIONS_H

#include <stdbool.h>

#include "base/unique.h"
#include "runtimes/names.h"

struct runtime_functions;

/* NULL: no memory. */
struct runtime_functions *runtime_functions_new(void);
void runtime_functions_free(struct runtime_functions *functions);

#define RUNTIME_FUNCTION_NONE (-1L)

/*
 * The number of the text (runtime_text.h) of a function in runtime_functions_texts(), or of what
 * stands for one whose name cannot be told, without a file; 0: no memory; RUNTIME_FUNCTION_NONE:
 * none was put into the function behind it, or it cannot be told (`is_inner`). `ret_has_outer`: a
 * compiler has put it into another one, whose depth is one more.
 */
long runtime_functions_get(struct runtime_functions *functions, const struct named_code *code,
			   bool *ret_has_outer);

/* The texts by the numbers of runtime_functions_get(). */
const struct unique *runtime_functions_texts(const struct runtime_functions *functions);

/* Names that were not read: the process had ended, or did not let itself be read in time. */
__u64 runtime_functions_unread(const struct runtime_functions *functions);

#endif
