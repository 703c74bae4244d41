/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules of the engine (bpf/engine/rules.h) that are switched off for measurement. In builds
 * without CTXPROP_ABLATION there are none.
 */
#ifndef CTXPROP_LOAD_RULES_H
#define CTXPROP_LOAD_RULES_H

#include <bpf/libbpf.h>
#include <linux/types.h>

/*
 * Switch this rule off in everything that is loaded from now on. To be called before threads are
 * made. 0; -ENOENT: no rule has this name; -ENOTSUP: this build cannot switch rules off.
 */
int rules_switch_off(const char *name);

/* The rules that are switched off, a bit for each. */
__u64 rules_switched_off(void);

/* Set that in an opened object, if it has rules, before it is loaded. 0 or -errno. */
int rules_tell(struct bpf_object *object);

#endif
