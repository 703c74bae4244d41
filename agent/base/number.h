/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that users type. */
#ifndef CTXPROP_NUMBER_H
#define CTXPROP_NUMBER_H

#include <linux/types.h>

/* Parse all of `text` as a decimal in [min, max]. 0, -EINVAL or -ERANGE. */
int number_parse(const char *text, unsigned long min, unsigned long max, unsigned long *ret);

/*
 * Parse all of `text` as bytes in [min, max]: a decimal, with K, M, G or T (powers of 1024) behind
 * it or not. 0, -EINVAL or -ERANGE.
 */
int size_parse(const char *text, __u64 min, __u64 max, __u64 *ret_bytes);

#endif
