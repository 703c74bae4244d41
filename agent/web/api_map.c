// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "trace/edges.h"
#include "trace/json.h"
#include "trace/query_words.h"
#include "web/api.h"
#include "web/api_store.h"

#define LAST_NS (900 * NS_PER_SECOND)

static json_t *edge_json(const struct edge *edge)
{
	__u64 p99_ns = histogram_percentile(&edge->durations, 99);
	json_t *object = json_pack(
	    "{sb,sb,sI,sI,sI}", "from_outside", edge->from_outside, "to_outside", edge->to_outside,
	    "count", (json_int_t)edge->count, "errors", (json_int_t)edge->errors, "p99_ns",
	    (json_int_t)(p99_ns < edge->longest_ns ? p99_ns : edge->longest_ns));

	json_set_text(object, "caller", edge->caller);
	json_set_text(object, "callee", edge->callee);
	return object;
}

static void answer(const struct edges *edges, struct reply *reply)
{
	__s64 known_ns = edges->first_ns ? query_now_ns() - edges->first_ns : 0;
	double seconds = known_ns > 0 ? (double)known_ns / NS_PER_SECOND : 0;
	json_t *list = json_array();

	for (size_t i = 0; i < edges->count; i++)
		json_array_append_new(list, edge_json(edges->edge[i]));
	api_reply(reply,
		  json_pack("{sf,sb,so}", "seconds", seconds, "cut", edges->is_cut, "edges", list));
}

void api_map(const struct web_options *options, struct request *request, struct reply *reply)
{
	struct edges edges = {};
	__u64 last_ns;
	sqlite3 *db;

	if (api_last(request, reply, LAST_NS, &last_ns))
		return;
	db = api_open(options, reply);
	if (!db)
		return;
	if (edges_read(db, query_now_ns() - (__s64)last_ns, &edges))
		api_failed(reply, db);
	else
		answer(&edges, reply);
	edges_free(&edges);
	api_close(db);
}
