/* SPDX-License-Identifier: Apache-2.0 */
/* What profilers read, when nobody is left who would keep it true. */
#ifndef CTXPROP_NODE_CONTEXTS_H
#define CTXPROP_NODE_CONTEXTS_H

#include <stdbool.h>
#include <linux/types.h>

/*
 * Stop the probes of a version of the node layer, whatever its build, and take the contexts that
 * they have published out of traces_ctx_v1. Entries of other writers stay. To be called before
 * the layer's maps are removed; does what it can where some of them are missing.
 */
void node_contexts_withdraw(const char *layer_dir);

/* The same for processes of this version's layer, whose probes go on with all others. */
void node_contexts_withdraw_of(bool (*is_one)(__u32 tgid, void *data), void *data);

/* The same for one process. */
void node_contexts_withdraw_process(__u32 tgid);

#endif
