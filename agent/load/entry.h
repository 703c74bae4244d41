/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that several network namespaces share, and the entries of each (bpf/tc/entry.bpf.c).
 */
#ifndef CTXPROP_ENTRY_H
#define CTXPROP_ENTRY_H

#include <linux/types.h>

#include "load/hook.h"

/* The pinned map of the programs that entries go on in. */
#define ENTRY_MAP "programs"

/*
 * Let the entries of all namespaces go on in these programs from now on. The map that says so is
 * pinned in the layer. Returns its descriptor or -errno.
 */
int entry_share(const char *layer_dir, int prog_fd[HOOKS][FRAMINGS]);

/*
 * Load the entries of the namespace with this cookie, which go on in the programs of the map.
 * 0 and descriptors that the caller closes, or -errno.
 */
int entry_load(int programs_fd, __u64 netns_cookie, int ret_prog_fd[HOOKS][FRAMINGS]);

#endif
