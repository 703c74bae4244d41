// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "trace/store_sink.h"

#define BATCH    5000 /* spans in one transaction, at most */
#define PRUNE_NS (10 * NS_PER_SECOND)

struct store_sink {
	struct store *store;
	unsigned int batch; /* spans and connections that are not written yet */
	atomic_ulong lost;  /* read by other threads, too */
	__u64 prune_at_ns;
};

static void write_batch(struct store_sink *sink)
{
	if (store_flush(sink->store))
		sink->lost += sink->batch;
	sink->batch = 0;
}

/* One more has been added to the batch; `err`: all of it is lost. */
static void added(struct store_sink *sink, int err)
{
	sink->batch++;
	if (err) {
		sink->lost += sink->batch;
		sink->batch = 0;
	} else if (sink->batch >= BATCH) {
		write_batch(sink);
	}
}

static void take(void *data, const struct span *span, __s64 boot_to_wall_ns)
{
	struct store_sink *sink = data;

	added(sink, store_add(sink->store, span, boot_to_wall_ns));
}

static void take_connection(void *data, const struct connection *connection, __s64 boot_to_wall_ns)
{
	struct store_sink *sink = data;

	added(sink, store_add_connection(sink->store, connection, boot_to_wall_ns));
}

static void prune(struct store_sink *sink)
{
	struct timespec now;
	int err;

	clock_gettime(CLOCK_REALTIME, &now);
	err = store_prune(sink->store, (__u64)now.tv_sec * NS_PER_SECOND);
	if (err)
		log_debug("removing what is old from the store: %s", strerror(-err));
}

static void flush(void *data)
{
	struct store_sink *sink = data;
	__u64 now_ns = clock_now_ns();

	write_batch(sink);
	if (now_ns < sink->prune_at_ns)
		return;
	prune(sink);
	sink->prune_at_ns = now_ns + PRUNE_NS;
}

static void tell_counts(void *data, sink_tell *tell, void *to)
{
	struct store_sink *sink = data;

	tell(to, "not-stored", atomic_load(&sink->lost));
}

static void close_store(void *data)
{
	struct store_sink *sink = data;

	write_batch(sink);
	if (sink->lost)
		log_warning("%lu spans and connections could not be stored",
			    atomic_load(&sink->lost));
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
				  .connection = take_connection,
				  .flush = flush,
				  .close = close_store,
				  .counts = tell_counts,
				  .data = sink};
	return 0;
}
