/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The programs that are attached to a namespace's devices, pinned as <layer>/progs/<id>: by that,
 * classifiers are recognised as ours.
 */
#ifndef CTXPROP_PROGRAMS_H
#define CTXPROP_PROGRAMS_H

#include <linux/types.h>

#include "load/hook.h"

#define PROGRAMS (HOOKS * FRAMINGS)

/* The ids under which they are pinned; id 0: not loaded. 0 or -errno. */
int programs_ids(int fds[HOOKS][FRAMINGS], __u32 ret_ids[PROGRAMS]);

/* Descriptors of pinned programs by these ids, for the caller to close; -1 for id 0. 0 or -errno.
 */
int programs_open(const char *layer_dir, const __u32 ids[PROGRAMS], int ret_fds[HOOKS][FRAMINGS]);

/* Pin them. To be called before they are attached. 0 or -errno. */
int programs_pin(const char *layer_dir, int fds[HOOKS][FRAMINGS]);

/* Unpin all others. To be called when none of them is attached any more. 0 or -errno. */
int programs_drop_others(const char *layer_dir, int fds[HOOKS][FRAMINGS]);

#endif
