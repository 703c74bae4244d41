// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/clock.h"
#include "base/log.h"
#include "trace/join.h"
#include "trace/tracer.h"

#define TURN_MS     100  /* between two looks at the ring, unless it fills early */
#define BATCH       5000 /* spans in one transaction, at most */
#define LEASE_NS    (10 * NS_PER_SECOND)
#define RENEW_NS    NS_PER_SECOND
#define PRUNE_NS    (10 * NS_PER_SECOND)
#define PATIENCE_NS (900 * NS_PER_SECOND) /* a request without an end is given up */

struct tracer {
	struct store *store;
	struct join *join;
	struct ring_buffer *ring;
	int recording_fd;
	pthread_t thread;
	atomic_bool stopped;
	__s64 boot_to_wall_ns;
	unsigned int batch;
	__u64 renew_at_ns, prune_at_ns;
	unsigned long lost; /* spans that could not be stored */
};

static __s64 read_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * (__s64)NS_PER_SECOND + now.tv_nsec;
}

static void flush(struct tracer *tracer)
{
	if (store_flush(tracer->store))
		tracer->lost += tracer->batch;
	tracer->batch = 0;
}

static void on_span(const struct span *span, void *data)
{
	struct tracer *tracer = data;

	if (store_add(tracer->store, span, tracer->boot_to_wall_ns)) {
		tracer->lost += tracer->batch + 1;
		tracer->batch = 0;
		return;
	}
	tracer->batch++;
	if (tracer->batch >= BATCH)
		flush(tracer);
}

static int on_record(void *data, void *record, size_t size)
{
	struct tracer *tracer = data;

	join_record(tracer->join, record, size);
	return 0;
}

/* For how long the packet programs go on to tell; 0: no longer. */
static int record_for(const struct tracer *tracer, __u64 ns)
{
	struct recording recording = {.until_ns = ns ? clock_now_ns() + ns : 0};
	__u32 zero = 0;

	return bpf_map_update_elem(tracer->recording_fd, &zero, &recording, BPF_ANY);
}

static void do_what_is_due(struct tracer *tracer)
{
	__u64 now_ns = clock_now_ns();
	int err = 0;

	if (now_ns >= tracer->renew_at_ns) {
		record_for(tracer, LEASE_NS);
		join_expire(tracer->join, (__u64)read_clock(CLOCK_BOOTTIME) - PATIENCE_NS);
		tracer->renew_at_ns = now_ns + RENEW_NS;
	}
	if (now_ns >= tracer->prune_at_ns) {
		err = store_prune(tracer->store, (__u64)read_clock(CLOCK_REALTIME));
		tracer->prune_at_ns = now_ns + PRUNE_NS;
	}
	if (err)
		log_debug("removing what is old from the store: %s", strerror(-err));
}

static void take_turn(struct tracer *tracer, int timeout_ms)
{
	/* Once for all that is read in this turn: a step of the clock bends no span. */
	tracer->boot_to_wall_ns = read_clock(CLOCK_REALTIME) - read_clock(CLOCK_BOOTTIME);
	if (ring_buffer__poll(tracer->ring, timeout_ms) <= 0)
		ring_buffer__consume(tracer->ring);
	flush(tracer);
	do_what_is_due(tracer);
}

static void *run(void *data)
{
	struct tracer *tracer = data;

	while (!atomic_load(&tracer->stopped))
		take_turn(tracer, TURN_MS);
	record_for(tracer, 0);
	take_turn(tracer, 0);
	return NULL;
}

/* Signals are the main thread's. */
static int start_thread(struct tracer *tracer)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&tracer->thread, NULL, run, tracer);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -err;
}

static void release(struct tracer *tracer)
{
	ring_buffer__free(tracer->ring);
	join_free(tracer->join);
	store_close(tracer->store);
	free(tracer);
}

int tracer_start(const struct tracer_options *options, struct tracer **ret_tracer)
{
	struct tracer *tracer = calloc(1, sizeof(*tracer));
	int err;

	if (!tracer)
		return -ENOMEM;
	tracer->recording_fd = options->recording_fd;
	err = store_open(options->path, &options->limits, &tracer->store);
	if (!err)
		err = join_new(on_span, tracer, &tracer->join);
	if (!err) {
		tracer->ring = ring_buffer__new(options->records_fd, on_record, tracer, NULL);
		err = tracer->ring ? record_for(tracer, LEASE_NS) : -errno;
	}
	if (!err)
		err = start_thread(tracer);
	if (err)
		release(tracer);
	else
		*ret_tracer = tracer;
	return err;
}

static void tell_losses(const struct tracer *tracer)
{
	const struct join_counts *counts = join_counts(tracer->join);

	log_info(
	    "spans: %lu complete, %lu of traces that are not sampled, %lu not stored; requests "
	    "without an end: %lu, ends without a request: %lu",
	    counts->spans, counts->unsampled, tracer->lost,
	    counts->endless + join_open(tracer->join), counts->beginless);
}

void tracer_stop(struct tracer *tracer)
{
	if (!tracer)
		return;
	atomic_store(&tracer->stopped, true);
	pthread_join(tracer->thread, NULL);
	tell_losses(tracer);
	release(tracer);
}
