/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that users type. */
#ifndef CTXPROP_NUMBER_H
#define CTXPROP_NUMBER_H

/* Parse all of `text` as a decimal in [min, max]. 0, -EINVAL or -ERANGE. */
int number_parse(const char *text, unsigned long min, unsigned long max, unsigned long *ret);

#endif
