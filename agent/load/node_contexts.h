/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removes published contexts from the map that profilers read when nothing keeps them up to date
 * any more.
 */
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

/* The same for some processes of this version's layer; its probes stay attached. */
void node_contexts_withdraw_of(bool (*is_one)(__u32 tgid, void *data), void *data);

/* The same for one process. */
void node_contexts_withdraw_process(__u32 tgid);

#endif
