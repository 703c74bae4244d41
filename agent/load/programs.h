/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The programs that stand at a namespace's devices, pinned as <layer>/progs/<id>: that is how the
 * classifiers among them are known again.
 */
#ifndef CTXPROP_PROGRAMS_H
#define CTXPROP_PROGRAMS_H

#include "load/hook.h"

/* Pin them. To be called before they are attached. 0 or -errno. */
int programs_pin(const char *layer_dir, int fds[HOOKS][FRAMINGS]);

/* Unpin all others. To be called when none of them is attached any more. 0 or -errno. */
int programs_drop_others(const char *layer_dir, int fds[HOOKS][FRAMINGS]);

#endif
