/* SPDX-License-Identifier: Apache-2.0 */
/* Attaches the probes: for each event to the first hook that this kernel accepts. */
#ifndef CTXPROP_PROBES_H
#define CTXPROP_PROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "load/sizes.h"

#define PROBE_HOOK_MAX 48

/* An event, and where it is caught. */
struct probe_hook {
	const char *event;         /* "send" */
	char hook[PROBE_HOOK_MAX]; /* "tp_btf/tcp_sendmsg_locked"; empty: nowhere */
	int err;                   /* -errno of the hook that was tried last, if there is none */
	bool waits;                /* it is not needed yet */
};

#define PROBE_EVENTS_MAX 24

struct probe_hooks {
	struct probe_hook event[PROBE_EVENTS_MAX];
	unsigned int count;
};

/*
 * Create the node's maps in these sizes and pin them, or open them. Why contexts cannot be
 * published stands in `ret_unpublished`, which is empty when they can. 0 or -errno.
 */
int probes_make_maps(const struct sizes *sizes, char *ret_unpublished, size_t size);

/* Do the pinned maps have the layout that the probes want? If not, `ret_why` says what differs. */
bool probes_maps_fit(char *ret_why, size_t size);

/*
 * Attach a set of probes over the node's maps and pin them as <links_dir>/<generation>-<program>.
 * They sleep until the generation in map `node` is theirs. What only some nodes need waits for the
 * flag in `flags` (enum node_flags). 0 when every event is caught that the others cannot do
 * without, -ECANCELED: we were told to end, else -errno.
 */
int probes_attach(const char *links_dir, __u32 generation, __u32 flags,
		  struct probe_hooks *ret_hooks);

/* Are there probes that wait for a flag? */
bool probes_wait(const char *links_dir, __u32 generation);

/*
 * Load the probes that wait for a flag, so that they can be attached, which takes about a second.
 * 0, or -errno of an event that cannot be caught.
 */
int probes_make_ready(const char *links_dir, __u32 generation);

/*
 * Attach the probes that wait for these flags. 0; -EWOULDBLOCK: they are not loaded yet; or -errno
 * of an event that is not caught.
 */
int probes_attach_waiting(const char *links_dir, __u32 generation, __u32 flags);

/* Find out what an earlier daemon attached. 0, or -ENOENT when nothing of it is there. */
int probes_find(const char *links_dir, __u32 generation, struct probe_hooks *ret_hooks);

/*
 * Follow the connections of this network namespace that are older than the probes. The caller holds
 * the node's lock. 0 or -errno.
 */
int probes_look_back(const char *links_dir, __u32 generation);

/* Mark all processes of the node that listen, to be inspected; under the same lock. 0 or -errno. */
int probes_look_for_listeners(const char *links_dir, __u32 generation);

/* Detach all sets of probes but this one; 0: all of them. 0 or -errno. */
int probes_detach_others(const char *links_dir, __u32 generation);

/* A number that tells builds of the probes apart. */
__u64 probes_build(void);

#endif
