/* SPDX-License-Identifier: Apache-2.0 */
/* What another command of this program prints. */
#ifndef CTXPROP_CMD_RUN_SELF_H
#define CTXPROP_CMD_RUN_SELF_H

#include <stdio.h>

/*
 * Run a command (words that end with NULL) in a process of its own, and copy all that it prints,
 * complaints too; 1 MiB and ten seconds at most. What was cut off or failed is said there.
 */
void run_self(const char *const *words, FILE *out);

#endif
