/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CTXPROP_UPROBE_RETURNS_H
#define CTXPROP_UPROBE_RETURNS_H

#include <stdbool.h>

/*
 * Can a probe be put on the return of a function without harm? From Linux 6.11 on (x86-64) it makes
 * the program do a system call, uretprobe(), which a filter of the program's own (seccomp) answers
 * by its death where the kernel does not let it pass by (as 6.14 and later stable ones do). Tried
 * out by two children of this process.
 */
bool uprobe_returns_are_safe(void);

#endif
