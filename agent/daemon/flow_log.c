// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/address.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/list.h"
#include "base/log.h"
#include "base/reason_names.h"
#include "daemon/flow_log.h"
#include "daemon/log_limit.h"
#include "load/table.h"

#define LOOK_NS   NS_PER_SECOND
#define NS_PER_MS (NS_PER_SECOND / 1000)
#define WHY_TEXT  160

/* Hashes, each of a flow and its state. */
struct states {
	__u64 *state;
	size_t count;
};

struct flow_log {
	int flows_fd;
	__u64 next_ns;
	struct states told, found; /* of the last look, sorted; of this one */
	struct log_limit limit;
};

int flow_log_new(int flows_fd, struct flow_log **ret_log)
{
	struct flow_log *log = calloc(1, sizeof(*log));

	if (!log)
		return -ENOMEM;
	log->flows_fd = flows_fd;
	*ret_log = log;
	return 0;
}

void flow_log_free(struct flow_log *log)
{
	if (!log)
		return;
	free(log->told.state);
	free(log->found.state);
	free(log);
}

static int compare(const void *a, const void *b)
{
	__u64 x = *(const __u64 *)a, y = *(const __u64 *)b;

	return (x > y) - (x < y);
}

static bool has(const struct states *states, __u64 state)
{
	return states->count &&
	       bsearch(&state, states->state, states->count, sizeof(state), compare);
}

/* Without memory it is logged once more. */
static void add(struct states *states, __u64 state)
{
	__u64 *list = list_add(&states->state, &states->count, sizeof(*list));

	if (!list)
		return;
	*list = state;
}

static __u64 state_of(const struct flow_key *key, const struct flow *flow)
{
	const __u32 what[] = {flow->flags & (FLOW_OPAQUE | FLOW_LEARN), flow->opaque_reason};
	__u64 hash = hash_add(HASH_BEGIN, key, sizeof(*key));

	hash = hash_add(hash, &flow->opened_ns, sizeof(flow->opened_ns));
	return hash_add(hash, what, sizeof(what));
}

static const char *why_text(char ret[WHY_TEXT], const struct flow *flow)
{
	const struct reason_row *row = reason_row(flow->opaque_reason);

	if (!(flow->flags & FLOW_OPAQUE))
		snprintf(ret, WHY_TEXT,
			 "waits for a request to begin: it was met in the middle, or "
			 "bytes were missing");
	else if (row)
		snprintf(ret, WHY_TEXT, "left alone: %s (%s)", row->name, row->text);
	else
		snprintf(ret, WHY_TEXT, "left alone");
	return ret;
}

static void tell(const struct flow_key *key, const struct flow *flow)
{
	char from[ENDPOINT_TEXT_MAX], to[ENDPOINT_TEXT_MAX], why[WHY_TEXT];

	log_debug("connection-left-alone",
		  "connection %s > %s%s, netns:%x: %s; until then %u requests, %llu headers",
		  address_endpoint(from, key->src, key->sport),
		  address_endpoint(to, key->dst, key->dport),
		  flow->flags & FLOW_SERVER      ? " (served here)"
		  : flow->flags & FLOW_FORWARDED ? " (forwarded)"
						 : "",
		  key->netns, why_text(why, flow), flow->requests,
		  (unsigned long long)flow->injected);
}

static void look_at(const struct flow_key *key, const struct flow *flow, void *data)
{
	struct flow_log *log = data;
	__u64 state;

	if (!(flow->flags & (FLOW_OPAQUE | FLOW_LEARN)))
		return;
	state = state_of(key, flow);
	add(&log->found, state);
	if (!has(&log->told, state) && log_limit_take(&log->limit, clock_now_ns()))
		tell(key, flow);
}

static void look(struct flow_log *log, __u64 now_ns)
{
	unsigned long left_out = log_limit_left_out(&log->limit, now_ns);
	struct states before = log->told;
	int err;

	if (left_out)
		log_debug("connections-left-alone", "%lu more connections are left alone",
			  left_out);
	log->found.count = 0;
	err = table_each(log->flows_fd, look_at, log);
	if (err)
		log_debug("flows-scan-failed",
			  "cannot look for connections that are left alone: %s", strerror(-err));
	if (log->found.count)
		qsort(log->found.state, log->found.count, sizeof(__u64), compare);
	log->told = log->found;
	log->found = before;
}

int flow_log_do(struct flow_log *log)
{
	__u64 now_ns = clock_now_ns();

	if (!log)
		return -1;
	if (now_ns >= log->next_ns) {
		look(log, now_ns);
		log->next_ns = now_ns + LOOK_NS;
	}
	return (int)((log->next_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS);
}
