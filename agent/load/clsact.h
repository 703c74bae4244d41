/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attachment by the clsact qdisc and cls_bpf, for kernels without TCX.
 * A classifier is a layer's own when its program is pinned in the layer's progs/.
 */
#ifndef CTXPROP_CLSACT_H
#define CTXPROP_CLSACT_H

#include <stdbool.h>

#include "load/hook.h"

/* Does the layer have a classifier at this hook? 1, 0 or -errno. */
int clsact_attached(const char *layer_dir, int ifindex, enum hook hook);

/* Is there any classifier at this hook, ours or others'? 1, 0 or -errno. */
int clsact_used(int ifindex, enum hook hook);

/*
 * Attach a program: the layer's classifier there is replaced in one step; else a new one is made,
 * on egress behind all others, on ingress before them. 0 or -errno.
 */
int clsact_attach(const char *layer_dir, int prog_fd, int ifindex, enum hook hook);

/* Remove the layer's classifiers from a hook. The qdisc stays when others use it. 0 or -errno. */
int clsact_detach(const char *layer_dir, int ifindex, enum hook hook);

/* Remove the clsact qdisc of a device if no classifier is left there. 0 or -errno. */
int clsact_remove_if_empty(int ifindex);

#endif
