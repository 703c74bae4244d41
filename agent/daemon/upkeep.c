// SPDX-License-Identifier: Apache-2.0
#include <string.h>
#include <bpf/bpf.h>

#include "base/clock.h"
#include "base/log.h"
#include "daemon/upkeep.h"
#include "flows/gc.h"

/* A table that was full is read again more often than that is logged. */
#define LOOK_INTERVAL_NS (10 * NS_PER_SECOND)
#define NS_PER_MS        (NS_PER_SECOND / 1000)

static int read_room(int flows_fd, __u32 *ret_room)
{
	struct bpf_map_info info = {};
	__u32 size = sizeof(info);
	int err = bpf_obj_get_info_by_fd(flows_fd, &info, &size);

	if (!err)
		*ret_room = info.max_entries;
	return err;
}

struct gc_maps upkeep_maps(const struct engine *engine)
{
	return (struct gc_maps){.flows = engine_flows_fd(engine),
				.carried = engine_carried_fd(engine),
				.http2 = engine_http2_fd(engine),
				.http2_served = engine_http2_served_fd(engine),
				.formers = engine_formers_fd(engine),
				.shares = engine_shares_fd(engine)};
}

int upkeep_start(struct upkeep *upkeep, struct sites *sites, const struct engine *engine,
		 unsigned int gc_seconds)
{
	__u64 now_ns = clock_now_ns();
	int err = summary_start(&upkeep->summary, engine_counters_fd(engine), now_ns);

	if (err)
		return err;
	upkeep->sites = sites;
	upkeep->maps = upkeep_maps(engine);
	upkeep->gc_interval_ns = gc_seconds * NS_PER_SECOND;
	upkeep->next_look_ns = now_ns + LOOK_INTERVAL_NS;
	upkeep->next_gc_ns = now_ns + upkeep->gc_interval_ns;
	return read_room(upkeep->maps.flows, &upkeep->flows_room);
}

static int enter(__u32 netns, void *data)
{
	return sites_enter(data, netns);
}

static void leave(void *data)
{
	sites_leave(data);
}

static void collect(struct upkeep *upkeep, __u64 now_ns)
{
	const struct gc_places places = {enter, leave, upkeep->sites};
	struct gc_result result;
	int err = gc_run(&upkeep->maps, now_ns, upkeep->crowded, &places, &result);

	upkeep->next_gc_ns = now_ns + upkeep->gc_interval_ns;
	if (err) {
		log_warning("flows-scan-failed", "cannot look for dead flows: %s", strerror(-err));
		return;
	}
	upkeep->crowded = result.total - result.removed > upkeep->flows_room / 8UL * 7;
	if (result.removed)
		log_info("flows-removed", "removed %lu dead flows of %lu", result.removed,
			 result.total);
}

/* Where nothing is followed there is nothing. */
static void sweep_node(struct node_sweep *sweep)
{
	node_sweep_step(sweep);
	if (sweep->goes_on)
		return;
	if (sweep->removed > 0)
		log_info("node-swept",
			 "removed %d entries of processes, threads and requests that are gone",
			 sweep->removed);
	else if (sweep->removed < 0)
		log_debug("node-sweep-failed", "cannot look for entries of what is gone: %s",
			  strerror(-sweep->removed));
}

static void warn_crowded(struct upkeep *upkeep)
{
	if (!upkeep->warned)
		log_warning("flow-table-full",
			    "the flow table has been full (%u flows): connections without a header "
			    "made room, or new ones have no header; see `ctxprop stats`: "
			    "crowded-out, table-full, share-full (logged once)",
			    upkeep->flows_room);
	upkeep->warned = true;
}

/* If the table is nearly full, remove dead flows each time. */
static void summarise(struct upkeep *upkeep, __u64 now_ns)
{
	long turned_away = summary_look(&upkeep->summary, now_ns);

	upkeep->next_look_ns = now_ns + LOOK_INTERVAL_NS;
	if (turned_away < 0)
		log_warning("counters-failed", "cannot read the counters: %s",
			    strerror((int)-turned_away));
	if (turned_away > 0)
		warn_crowded(upkeep);
	upkeep->crowded |= turned_away > 0;
	if (upkeep->crowded)
		upkeep->next_gc_ns = now_ns;
}

int upkeep_do(struct upkeep *upkeep)
{
	__u64 now_ns = clock_now_ns(), next_ns;

	if (now_ns >= upkeep->next_look_ns)
		summarise(upkeep, now_ns);
	if (now_ns >= upkeep->next_gc_ns) {
		collect(upkeep, now_ns);
		if (!upkeep->sweep.goes_on)
			node_sweep_begin(&upkeep->sweep);
	}
	if (upkeep->sweep.goes_on) {
		sweep_node(&upkeep->sweep);
		return 0;
	}
	next_ns =
	    upkeep->next_look_ns < upkeep->next_gc_ns ? upkeep->next_look_ns : upkeep->next_gc_ns;
	/* Rounded up, so that it is due when the wait ends. */
	return (int)((next_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS);
}
