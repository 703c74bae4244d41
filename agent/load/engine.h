/* SPDX-License-Identifier: Apache-2.0 */
/* The BPF side of the daemon: its programs and maps, loaded over what an earlier daemon left. */
#ifndef CTXPROP_ENGINE_H
#define CTXPROP_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "abi.h"
#include "load/attach.h"
#include "load/connections.h"
#include "pins/pins.h"
#include "load/policy_maps.h"
#include "load/sizes.h"

struct engine;

struct engine_options {
	struct sizes sizes;      /* of tables that are made */
	bool ignore_request_ids; /* x-request-id is no evidence */
	bool http2;              /* requests of HTTP/2 get headers, too */
	bool paused;             /* nothing is edited to begin with */
	bool shared; /* the programs serve several namespaces, by entries (see entry.h) */
};

/* How a layer was opened, for the log. */
struct engine_origin {
	bool adopted;   /* maps of an earlier daemon */
	__u32 flows;    /* size of the flow table */
	bool set_aside; /* a layer of another layout was moved aside; it edits nothing any more */
	char why[128];  /* why it did not fit */
};

/*
 * Make the maps, or open those of an earlier daemon. Its pinned programs for Ethernet are used
 * again, too, if they are of this build. The caller holds the lock of the pins, which must outlive
 * the engine. 0 or -errno.
 */
int engine_open(const struct pins *pins, __u64 netns_cookie, const struct engine_options *options,
		struct engine **ret_engine, struct engine_origin *ret_origin);

/*
 * Load the program of a hook for a framing, unless that was done. Different programs may be loaded
 * by several threads at once. 0 or -errno.
 */
int engine_load(struct engine *engine, enum hook hook, enum framing framing);

/*
 * Both programs for Ethernet (loopback has it, too) are loaded: pin the maps into the layer.
 * Nothing is attached yet, editing is switched on. 0 or -errno.
 */
int engine_finish(struct engine *engine);

/*
 * Load the programs of another framing over the same maps, unless that was done. This is not done
 * at the start, since verifying takes long and most nodes have no device that needs them. 0 or
 * -errno.
 */
int engine_need(struct engine *engine, enum framing framing);

/* Fill in the descriptors of the programs, owned by the engine; -1: not loaded. */
void engine_programs(const struct engine *engine, int ret_prog_fd[HOOKS][FRAMINGS]);

/* The map of shared programs, which entries go on by; owned by the engine. -1: not shared. */
int engine_shared_fd(const struct engine *engine);

/* Descriptors of the maps, owned by the engine. */
int engine_flows_fd(const struct engine *engine);
int engine_carried_fd(const struct engine *engine);
int engine_http2_fd(const struct engine *engine);
int engine_http2_served_fd(const struct engine *engine);
int engine_formers_fd(const struct engine *engine);
int engine_shares_fd(const struct engine *engine);
int engine_counters_fd(const struct engine *engine);
int engine_records_fd(const struct engine *engine);
int engine_recording_fd(const struct engine *engine);

/* Tell the programs in which network namespaces they work. 0 or -errno. */
int engine_attend(const struct engine *engine, const struct attended *attended);

/* The maps of connections, and those of rules; their descriptors are owned by the engine. */
struct connections_maps engine_connections(const struct engine *engine);
struct policy_maps engine_policy_maps(const struct engine *engine);

/* Frees the engine; what is pinned stays. NULL is allowed. */
void engine_close(struct engine *engine);

#endif
