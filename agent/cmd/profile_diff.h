/* SPDX-License-Identifier: Apache-2.0 */
/* `ctxprop profile diff`: two profiles, or two parts of one. */
#ifndef CTXPROP_CMD_PROFILE_DIFF_H
#define CTXPROP_CMD_PROFILE_DIFF_H

#include "cmd/profile_options.h"

/* The words are files; of windows there are none. Complains itself; returns an exit code. */
int profile_diff(const struct profile_wanted *wanted, const char *const *words, size_t count);

#endif
