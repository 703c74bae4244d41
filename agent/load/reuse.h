/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uses programs again that an earlier daemon of the same build has pinned: verifying them takes far
 * longer than everything else at a start.
 */
#ifndef CTXPROP_REUSE_H
#define CTXPROP_REUSE_H

#include <stddef.h>
#include <bpf/libbpf.h>
#include <linux/types.h>

#include "load/hook.h"
#include "pins/pins.h"

/*
 * A number that tells what programs of an object would become if it were loaded now: made out of
 * the object's bytes, its constants, and which pinned maps it would use, those of this layer (NULL:
 * others than the node's are the programs' own) and of the node. 0: it would make one of
 * its lasting maps anew, so that programs of before are others.
 */
__u64 reuse_key(const char *layer_dir, const struct bpf_object *object, const void *bytes,
		size_t size);

/*
 * Descriptors of the pinned programs that were recorded under this key. 0, or -ENOENT: there are
 * none.
 */
int reuse_find(const struct pins *pins, __u64 key, int ret_prog_fd[HOOKS]);

/*
 * Record these programs, which are (or will be) pinned under their ids, under this key. 0 or
 * -errno.
 */
int reuse_note(const struct pins *pins, __u64 key, const int prog_fd[HOOKS]);

#endif
