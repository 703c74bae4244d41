// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "trace/store_sink.h"

#define BATCH    20000         /* spans in one transaction, at most */
#define FEW      200           /* the most that are written at once: more would save little */
#define WAIT_NS  NS_PER_SECOND /* the longest that one waits to be written */
#define PRUNE_NS (10 * NS_PER_SECOND)
#define RETRY_NS NS_PER_SECOND /* timeout after an error, while other sinks wait */

struct store_sink {
	struct store *store;
	unsigned int spans, connections;     /* that are not written yet */
	atomic_ulong lost, lost_connections; /* read by other threads, too */
	__u64 prune_at_ns, retry_at_ns;
	__u64 written_ns; /* when there was nothing left to write */
};

/* All that was added since the last flush is lost, and `spans` and `connections` beside. */
static void fail(struct store_sink *sink, unsigned int spans, unsigned int connections)
{
	sink->lost += sink->spans + spans;
	sink->lost_connections += sink->connections + connections;
	sink->spans = sink->connections = 0;
	sink->retry_at_ns = clock_now_ns() + RETRY_NS;
}

static void write_batch(struct store_sink *sink)
{
	if (store_flush(sink->store))
		fail(sink, 0, 0);
	sink->spans = sink->connections = 0;
}

static void write_if_full(struct store_sink *sink)
{
	if (sink->spans + sink->connections >= BATCH)
		write_batch(sink);
}

/* After an error nothing is tried for a while. */
static bool is_resting(struct store_sink *sink)
{
	if (!sink->retry_at_ns)
		return false;
	if (clock_now_ns() < sink->retry_at_ns)
		return true;
	sink->retry_at_ns = 0;
	return false;
}

static void take(void *data, const struct span *span, __s64 boot_to_wall_ns)
{
	struct store_sink *sink = data;

	if (is_resting(sink)) {
		sink->lost++;
		return;
	}
	if (store_add(sink->store, span, boot_to_wall_ns)) {
		fail(sink, 1, 0);
		return;
	}
	sink->spans++;
	write_if_full(sink);
}

static void take_connection(void *data, const struct connection *connection, __s64 boot_to_wall_ns)
{
	struct store_sink *sink = data;

	if (is_resting(sink)) {
		sink->lost_connections++;
		return;
	}
	if (store_add_connection(sink->store, connection, boot_to_wall_ns)) {
		fail(sink, 0, 1);
		return;
	}
	sink->connections++;
	write_if_full(sink);
}

/* Failing to count is not a lost span. */
static void count(void *data, const struct span *span, __s64 boot_to_wall_ns)
{
	struct store_sink *sink = data;

	if (!is_resting(sink) && store_count(sink->store, span, boot_to_wall_ns))
		fail(sink, 0, 0);
}

/* Returns whether there is more to remove. */
static bool prune(struct store_sink *sink)
{
	struct timespec now;
	int err;

	clock_gettime(CLOCK_REALTIME, &now);
	err = store_prune(sink->store, (__u64)now.tv_sec * NS_PER_SECOND);
	if (err < 0)
		log_debug("store-trim-failed", "cannot remove old spans from the store: %s",
			  strerror(-err));
	return err > 0;
}

/*
 * Ids are random, so that each transaction writes to about as many pages of their index as it has
 * spans: the fewer transactions, the fewer pages.
 */
static bool may_wait(struct store_sink *sink, __u64 now_ns)
{
	return sink->spans + sink->connections > FEW && now_ns < sink->written_ns + WAIT_NS;
}

static bool flush(void *data, bool hurry)
{
	struct store_sink *sink = data;
	__u64 now_ns = clock_now_ns();

	if (!hurry && may_wait(sink, now_ns))
		return false;
	write_batch(sink);
	sink->written_ns = now_ns;
	if (now_ns >= sink->prune_at_ns && !is_resting(sink))
		sink->prune_at_ns = prune(sink) ? now_ns : now_ns + PRUNE_NS;
	return true;
}

static void tell_counts(void *data, sink_tell *tell, void *to)
{
	struct store_sink *sink = data;

	tell(to, "not-stored", atomic_load(&sink->lost));
	tell(to, "connections-not-stored", atomic_load(&sink->lost_connections));
}

static void close_store(void *data)
{
	struct store_sink *sink = data;

	write_batch(sink);
	if (sink->lost)
		log_warning("spans-lost", "%lu spans could not be stored",
			    atomic_load(&sink->lost));
	if (sink->lost_connections)
		log_warning("connections-lost", "%lu connections could not be stored",
			    atomic_load(&sink->lost_connections));
	store_close(sink->store);
	free(sink);
}

int store_sink_open(const char *path, const struct store_limits *limits, struct sink *ret_sink)
{
	struct store_sink *sink = calloc(1, sizeof(*sink));
	int err = sink ? store_open(path, limits, &sink->store) : -ENOMEM;

	if (err) {
		free(sink);
		return err;
	}
	*ret_sink = (struct sink){.span = take,
				  .unsampled = count,
				  .connection = take_connection,
				  .flush = flush,
				  .close = close_store,
				  .counts = tell_counts,
				  .data = sink};
	return 0;
}
