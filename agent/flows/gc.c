// SPDX-License-Identifier: Apache-2.0
#include <string.h>
#include <bpf/bpf.h>

#include "abi.h"
#include "base/clock.h"
#include "flows/gc.h"
#include "flows/liveness.h"
#include "load/table.h"

/* Count this flow. */
static void shares_count(struct flow_shares *shares, const struct flow *flow)
{
	if (!flow->owner)
		return;
	shares->all++;
	shares->of[(flow->owner - 1) % FLOW_OWNERS]++;
}

/* Put what was counted in place of the programs' counts. 0 or -errno. */
static int shares_write(int fd, const struct flow_shares *shares)
{
	__u32 index = 0;

	return bpf_map_update_elem(fd, &index, shares, BPF_ANY);
}

#define MINUTE_NS (60 * NS_PER_SECOND)
#define DAY_NS    (24ULL * 60 * MINUTE_NS)

/*
 * Without an offset nothing breaks: if the connection still lives, its flow is made again from the
 * middle.
 */
#define IDLE_PLAIN_NS (5 * MINUTE_NS)
/* The same where the table is nearly full. */
#define IDLE_CROWDED_NS (10 * NS_PER_SECOND)
/* A RST was seen while data was in flight, which is sent again if the connection still lives. */
#define IDLE_RESET_NS MINUTE_NS
/* With one, a local connection is asked for. */
#define IDLE_LOCAL_NS (10 * MINUTE_NS)
/* Nobody here knows a forwarded one; this is how long connection tracking waits by default. */
#define IDLE_FORWARDED_NS (5 * DAY_NS)

struct collection {
	const struct gc_maps *maps;
	__u64 now_ns;
	bool crowded;
	const struct gc_places *places;
	struct gc_result *result;
	struct flow_shares shares; /* of the flows that stay */
};

/* Would a live connection break if its flow were removed? */
static bool has_offset(const struct flow *flow)
{
	return flow->flags & FLOW_FORMER || (flow_has_edits(flow) && edits_any(&flow->edits));
}

enum gc_verdict gc_judge(const struct flow *flow, __u64 now_ns, bool crowded)
{
	__u64 idle_ns = table_idle_ns(flow, now_ns);

	/* A response may take as long as it likes. */
	if (flow->flags & FLOW_SERVER && serving_open_count(&flow->serving))
		return idle_ns > IDLE_LOCAL_NS ? GC_ASK : GC_KEEP;
	if (!has_offset(flow))
		return idle_ns > (crowded ? IDLE_CROWDED_NS : IDLE_PLAIN_NS) ? GC_REMOVE : GC_KEEP;
	if (idle_ns > IDLE_RESET_NS && flow->flags & FLOW_RESET)
		return flow->flags & FLOW_FORWARDED ? GC_REMOVE : GC_ASK;
	if (idle_ns > IDLE_FORWARDED_NS && flow->flags & FLOW_FORWARDED)
		return GC_REMOVE;
	if (idle_ns > IDLE_LOCAL_NS && !(flow->flags & FLOW_FORWARDED))
		return GC_ASK;
	return GC_KEEP;
}

static enum gc_verdict ask(const struct flow_key *key, const struct gc_places *places)
{
	struct tuple tuple = {.sport = key->sport, .dport = key->dport};
	enum liveness liveness;

	memcpy(tuple.src, key->src, sizeof(tuple.src));
	memcpy(tuple.dst, key->dst, sizeof(tuple.dst));
	if (places->enter(key->netns, places->data))
		return GC_KEEP;
	liveness = liveness_of(&tuple);
	places->leave(places->data);
	return liveness == LIVENESS_GONE ? GC_REMOVE : GC_KEEP;
}

/* Has a packet passed since this copy of the flow was made? */
static int is_untouched(int fd, const struct flow_key *key, const struct flow *copy)
{
	struct flow now;

	return !table_get(fd, key, &now) && now.seen_ns == copy->seen_ns &&
	       now.edits.retired == copy->edits.retired && now.edits.end == copy->edits.end;
}

/* The tracestates that its edits in flight carry go with a flow. */
static void remove_carried(int carried, const struct flow *flow)
{
	for (__u32 i = 0; i < table_edits(flow) && i < EDITS_MAX; i++) {
		const struct edit *edit = edits_get(&flow->edits, i);

		if (edit->len > TRACEPARENT_LINE_LEN)
			bpf_map_delete_elem(carried, edit->span_id);
	}
}

static void take_out(const struct collection *collection, const struct flow_key *key,
		     const struct flow *flow)
{
	if (bpf_map_delete_elem(collection->maps->flows, key))
		return;
	if (flow->flags & FLOW_FORMER)
		bpf_map_delete_elem(collection->maps->formers, key);
	remove_carried(collection->maps->carried, flow);
	if (flow->flags & FLOW_HTTP2)
		bpf_map_delete_elem(flow->flags & FLOW_SERVER ? collection->maps->http2_served
							      : collection->maps->http2,
				    key);
	collection->result->removed++;
}

static void look(const struct flow_key *key, const struct flow *flow, void *data)
{
	struct collection *collection = data;
	enum gc_verdict verdict = gc_judge(flow, collection->now_ns, collection->crowded);

	collection->result->total++;
	if (verdict == GC_ASK)
		verdict = ask(key, collection->places);
	if (verdict == GC_REMOVE && is_untouched(collection->maps->flows, key, flow))
		take_out(collection, key, flow);
	else
		shares_count(&collection->shares, flow);
}

static void count_former(const struct flow_key *key, const struct flow *flow, void *data)
{
	struct collection *collection = data;

	(void)key;
	shares_count(&collection->shares, flow);
}

int gc_run(const struct gc_maps *maps, __u64 now_ns, bool crowded, const struct gc_places *places,
	   struct gc_result *ret_result)
{
	struct collection collection = {maps, now_ns, crowded, places, ret_result, {}};
	int err;

	*ret_result = (struct gc_result){};
	err = table_each(maps->flows, look, &collection);
	if (!err)
		err = table_each(maps->formers, count_former, &collection);
	return err ? err : shares_write(maps->shares, &collection.shares);
}

/* Flows of namespaces that are gone. */
struct eviction {
	struct collection collection;
	bool (*gone)(__u32 netns, void *data);
	void *data;
};

static void evict(const struct flow_key *key, const struct flow *flow, void *data)
{
	const struct eviction *eviction = data;

	eviction->collection.result->total++;
	if (eviction->gone(key->netns, eviction->data))
		take_out(&eviction->collection, key, flow);
}

int gc_remove_gone(const struct gc_maps *maps, bool (*gone)(__u32 netns, void *data), void *data,
		   struct gc_result *ret_result)
{
	struct eviction eviction = {{.maps = maps, .result = ret_result}, gone, data};

	*ret_result = (struct gc_result){};
	return table_each(maps->flows, evict, &eviction);
}
