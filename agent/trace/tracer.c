// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include "base/clock.h"
#include "base/log.h"
#include "records.h"
#include "trace/join.h"
#include "trace/ring.h"
#include "trace/tracer.h"

#define TURN_MS     100                /* between two looks at the ring, unless it fills early */
#define TURN_READS  2000               /* records of one turn, at most: a small part of the ring */
#define HURRY_AT    (RECORDS_SIZE / 4) /* bytes of the ring that were read, but are not kept */
#define CLOCK_TRIES 3                  /* a thread may be interrupted between reading two clocks */
#define LEASE_NS    (10 * NS_PER_SECOND)
#define RENEW_NS    NS_PER_SECOND
#define SHED_STEP                                                                                  \
	(RECORDING_SHED_ALL /                                                                      \
	 32) /* how often traces that were dropped may be recorded again, in a second */
#define WARN_NS     (60 * NS_PER_SECOND)
#define PATIENCE_NS (900 * NS_PER_SECOND) /* a request without an end is given up */

struct tracer {
	struct sink sink[TRACER_SINKS_MAX];
	size_t sinks;
	struct join *join;
	struct keep *keep; /* NULL: what is not sampled is dropped */
	struct ring *ring;
	int recording_fd;
	pthread_t thread;
	bool started;
	atomic_bool stopped;
	__s64 boot_to_wall_ns;
	__u64 renew_at_ns, warn_at_ns;
	__u32 head_max; /* bytes */
	/* Those of the join as of the last turn, for other threads. */
	pthread_mutex_t lock;
	struct join_counts counts;
	struct keep_counts kept;
};

static __s64 read_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * (__s64)NS_PER_SECOND + now.tv_nsec;
}

/* The difference between two clocks: of some tries, the one that took least time. */
static __s64 read_difference_ns(clockid_t from, clockid_t to)
{
	__s64 least_ns = INT64_MAX, found_ns = 0;

	for (int i = 0; i < CLOCK_TRIES; i++) {
		__s64 before_ns = read_clock(from);
		__s64 then_ns = read_clock(to);
		__s64 took_ns = read_clock(from) - before_ns;

		if (took_ns >= least_ns)
			continue;
		least_ns = took_ns;
		found_ns = then_ns - before_ns - took_ns / 2;
	}
	return found_ns;
}

static void give(struct tracer *tracer, const struct sink *sink, const struct span *span)
{
	sink->span(sink->data, span, tracer->boot_to_wall_ns);
}

/* A span of a trace that is not sampled goes to sinks that keep or count it. */
static void give_unsampled(struct tracer *tracer, const struct sink *sink, const struct span *span)
{
	if (sink->takes_unsampled)
		give(tracer, sink, span);
	else if (sink->unsampled)
		sink->unsampled(sink->data, span, tracer->boot_to_wall_ns);
}

static void on_span(const struct span *span, void *data)
{
	struct tracer *tracer = data;
	bool sampled = span_is_sampled(span);

	for (size_t i = 0; i < tracer->sinks; i++)
		(sampled ? give : give_unsampled)(tracer, &tracer->sink[i], span);
	if (tracer->keep)
		keep_span(tracer->keep, span);
}

/* Sinks that take unsampled spans have it already. */
static void on_kept(const struct span *span, void *data)
{
	struct tracer *tracer = data;

	for (size_t i = 0; i < tracer->sinks; i++)
		if (!tracer->sink[i].takes_unsampled)
			give(tracer, &tracer->sink[i], span);
}

static void on_open(const struct span *span, void *data)
{
	keep_open(((struct tracer *)data)->keep, span);
}

static void on_gone(const struct span *span, void *data)
{
	keep_gone(((struct tracer *)data)->keep, span);
}

static void on_connection(struct tracer *tracer, const struct record_connection *record)
{
	struct connection connection;

	/* Requests of this process, such as those of exporters, are left out. */
	if (record->tgid == (__u32)getpid())
		return;
	connection_read(record, join_services(tracer->join), &connection);
	for (size_t i = 0; i < tracer->sinks; i++)
		if (tracer->sink[i].connection)
			tracer->sink[i].connection(tracer->sink[i].data, &connection,
						   tracer->boot_to_wall_ns);
}

static void on_record(void *data, const void *record, size_t size)
{
	struct tracer *tracer = data;

	if (connection_is_record(record, size))
		on_connection(tracer, record);
	else
		join_record(tracer->join, record, size);
}

/* The ring has room again: record more traces. */
static void shed_less(struct tracer *tracer, struct recording *recording)
{
	__u64 now_ns = clock_now_ns();

	if (!recording->shed)
		return;
	if (now_ns >= tracer->warn_at_ns) {
		log_warning("tracer-overrun",
			    "requests come faster than spans can be made: %llu %% of the traces "
			    "are dropped (ctxprop stats: record-shed)",
			    (unsigned long long)(recording->shed / (RECORDING_SHED_ALL / 100)));
		tracer->warn_at_ns = now_ns + WARN_NS;
	}
	if (ring_used(tracer->ring) <= RECORDS_CALM)
		recording->shed -= recording->shed < SHED_STEP ? recording->shed : SHED_STEP;
}

/* For how long the packet programs go on to tell; 0: no longer. */
static int record_for(struct tracer *tracer, __u64 ns)
{
	struct recording recording = {};
	__u32 zero = 0;

	bpf_map_lookup_elem(tracer->recording_fd, &zero, &recording);
	recording.until_ns = ns ? clock_now_ns() + ns : 0;
	recording.head_max = tracer->head_max;
	recording.boot_ns = (__u64)read_difference_ns(CLOCK_MONOTONIC, CLOCK_BOOTTIME);
	shed_less(tracer, &recording);
	return bpf_map_update_elem(tracer->recording_fd, &zero, &recording, BPF_ANY);
}

static void renew(struct tracer *tracer)
{
	__u64 now_ns = clock_now_ns();

	if (now_ns < tracer->renew_at_ns)
		return;
	record_for(tracer, LEASE_NS);
	join_expire(tracer->join, (__u64)read_clock(CLOCK_BOOTTIME) - PATIENCE_NS);
	tracer->renew_at_ns = now_ns + RENEW_NS;
}

static void publish_counts(struct tracer *tracer)
{
	pthread_mutex_lock(&tracer->lock);
	tracer->counts = *join_counts(tracer->join);
	if (tracer->keep)
		tracer->kept = *keep_counts(tracer->keep);
	pthread_mutex_unlock(&tracer->lock);
}

/* Returns whether every sink has stored what it was given. */
static bool flush(struct tracer *tracer)
{
	bool hurry = atomic_load(&tracer->stopped) || ring_used(tracer->ring) > HURRY_AT;
	bool kept = true;

	for (size_t i = 0; i < tracer->sinks; i++)
		if (tracer->sink[i].flush)
			kept &= tracer->sink[i].flush(tracer->sink[i].data, hurry);
	return kept;
}

/*
 * Read records, and hand on what they make. Their room in the ring is free when that is kept: if
 * this process is killed before, the next one reads them again. Returns whether there is more.
 */
static bool take_turn(struct tracer *tracer)
{
	size_t count;

	/*
	 * Once for everything that is read in this turn, so that a clock that is set does not
	 * distort a span.
	 */
	tracer->boot_to_wall_ns = read_difference_ns(CLOCK_BOOTTIME, CLOCK_REALTIME);
	count = ring_read(tracer->ring, TURN_READS, on_record, tracer);
	if (tracer->keep)
		keep_look(tracer->keep, clock_now_ns());
	if (flush(tracer))
		ring_release(tracer->ring);
	publish_counts(tracer);
	return count == TURN_READS;
}

static void *run(void *data)
{
	struct tracer *tracer = data;

	while (!atomic_load(&tracer->stopped)) {
		renew(tracer);
		if (!take_turn(tracer))
			ring_wait(tracer->ring, TURN_MS);
	}
	record_for(tracer, 0);
	while (take_turn(tracer))
		;
	return NULL;
}

int tracer_new(int records_fd, int recording_fd, struct tracer **ret_tracer)
{
	struct tracer *tracer = calloc(1, sizeof(*tracer));
	int err = tracer ? join_new(on_span, tracer, &tracer->join) : -ENOMEM;

	if (tracer)
		pthread_mutex_init(&tracer->lock, NULL);
	if (!err) {
		tracer->recording_fd = recording_fd;
		tracer->head_max = RECORD_HEAD_MAX;
		err = ring_open(records_fd, &tracer->ring);
	}
	if (err)
		tracer_stop(tracer);
	else
		*ret_tracer = tracer;
	return err;
}

void tracer_set_rules(struct tracer *tracer, struct service_rules *rules)
{
	join_set_rules(tracer->join, rules);
}

void tracer_set_pods(struct tracer *tracer, struct pods *pods)
{
	join_set_pods(tracer->join, pods);
}

bool tracer_misses_pod(struct tracer *tracer)
{
	return join_misses_pod(tracer->join);
}

void tracer_add(struct tracer *tracer, const struct sink *sink)
{
	if (tracer->sinks < TRACER_SINKS_MAX)
		tracer->sink[tracer->sinks++] = *sink;
}

void tracer_limit_heads(struct tracer *tracer, __u32 bytes, const struct redact *redact)
{
	tracer->head_max = bytes;
	join_limit_heads(tracer->join, bytes, redact);
}

int tracer_keep(struct tracer *tracer, const struct keep_rules *rules)
{
	int err = keep_new(rules, on_kept, tracer, &tracer->keep);

	if (!err)
		join_watch(tracer->join, on_open, on_gone);
	return err;
}

bool tracer_takes_connections(const struct tracer *tracer)
{
	for (size_t i = 0; i < tracer->sinks; i++)
		if (tracer->sink[i].connection)
			return true;
	return false;
}

/* Signals are the main thread's. */
int tracer_start(struct tracer *tracer)
{
	sigset_t all, before;
	int err;

	renew(
	    tracer); /* by the thread that starts it, so that everything from here on is recorded */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&tracer->thread, NULL, run, tracer);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	tracer->started = !err;
	return -err;
}

void tracer_counts(struct tracer *tracer, sink_tell *tell, void *to)
{
	struct join_counts counts;
	struct keep_counts kept;

	pthread_mutex_lock(&tracer->lock);
	counts = tracer->counts;
	kept = tracer->kept;
	pthread_mutex_unlock(&tracer->lock);
	tell(to, "complete", counts.spans);
	tell(to, "unsampled", counts.unsampled);
	tell(to, "own", counts.own);
	tell(to, "without-end", counts.endless);
	tell(to, "without-begin", counts.beginless);
	tell(to, "malformed", counts.malformed);
	if (tracer->keep) {
		tell(to, "kept", kept.kept);
		tell(to, "keep-crowded", kept.crowded);
		tell(to, "keep-late", kept.late);
	}
	for (size_t i = 0; i < tracer->sinks; i++)
		if (tracer->sink[i].counts)
			tracer->sink[i].counts(tracer->sink[i].data, tell, to);
}

static void tell_counts(const struct tracer *tracer)
{
	const struct join_counts *counts = join_counts(tracer->join);

	log_info("spans-total",
		 "spans: %lu complete, %lu of them in traces that are not sampled; requests "
		 "without an end: %lu, ends without a request: %lu",
		 counts->spans, counts->unsampled, counts->endless + join_open(tracer->join),
		 counts->beginless);
}

void tracer_stop(struct tracer *tracer)
{
	if (!tracer)
		return;
	atomic_store(&tracer->stopped, true);
	if (tracer->started) {
		pthread_join(tracer->thread, NULL);
		tell_counts(tracer);
	}
	keep_free(tracer->keep);
	for (size_t i = 0; i < tracer->sinks; i++)
		tracer->sink[i].close(tracer->sink[i].data);
	ring_close(tracer->ring);
	join_free(tracer->join);
	pthread_mutex_destroy(&tracer->lock);
	free(tracer);
}
