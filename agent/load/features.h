/* SPDX-License-Identifier: Apache-2.0 */
/* What the daemon needs from its rights and its kernel, asked before anything is touched. */
#ifndef CTXPROP_FEATURES_H
#define CTXPROP_FEATURES_H

#include <stddef.h>

/*
 * Check rights and kernel. 0, or -errno with a sentence in `ret_problem` that says what is
 * missing and what to do.
 */
int features_check(char *ret_problem, size_t size);

/*
 * Raise RLIMIT_MEMLOCK, which kernels before 5.11 charge maps to, and RLIMIT_NOFILE: each network
 * namespace takes some descriptors. A refusal is ignored.
 */
void features_raise_limits(void);

#endif
