/* SPDX-License-Identifier: Apache-2.0 */
/* What the daemon does at intervals: the summary in the log, and removing dead flows. */
#ifndef CTXPROP_UPKEEP_H
#define CTXPROP_UPKEEP_H

#include <stdbool.h>

#include "daemon/sites.h"
#include "daemon/summary.h"
#include "flows/gc.h"
#include "load/node_sweep.h"

struct upkeep {
	struct sites *sites; /* whose flows are looked after */
	struct summary summary;
	struct gc_maps maps;
	__u32 flows_room;
	__u64 gc_interval_ns;
	__u64 next_look_ns, next_gc_ns;
	struct node_sweep sweep;
	bool crowded; /* the flow table was nearly full when last read, or full since then */
	bool warned;  /* that it was full */
};

/* The maps of flows, which are the engine's: their descriptors are valid as long as it is open. */
struct gc_maps upkeep_maps(const struct engine *engine);

/* Begin; the first work is due one interval from now. 0 or -errno. */
int upkeep_start(struct upkeep *upkeep, struct sites *sites, const struct engine *engine,
		 unsigned int gc_seconds);

/* Do what is due. Returns the milliseconds until there is more to do. */
int upkeep_do(struct upkeep *upkeep);

#endif
