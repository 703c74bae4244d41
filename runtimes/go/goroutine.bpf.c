// SPDX-License-Identifier: GPL-2.0-only
/*
 * Goroutines that work for others: those that they start, and those of net/http's client that
 * write and read for them. Attached to Go programs that take requests.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "engine/end.bpf.h"
#include "runtimes/go/goroutine.bpf.h"
#include "runtimes/go/maps.bpf.h"
#include "runtimes/go/show.bpf.h"
#include "runtimes/go/socket.bpf.h"
#include "runtimes/go/uprobe.bpf.h"

static __always_inline int is_watcher(const struct runtime *runtime, __u64 start)
{
	for (int i = 0; i < RUNTIME_WATCHERS; i++)
		if (runtime->go.watchers[i] && runtime->go.watchers[i] == start)
			return 1;
	return 0;
}

/*
 * What a goroutine was started for goes with those that it starts. One that has called, or that
 * starts its like, and has read no request itself, may do so for a call that has waited until this
 * one was done: then the new one is for whatever request it was that waited.
 */
static __always_inline void inherit(const struct worker_key *parent, struct goroutine *made)
{
	struct goroutine *maker = goroutine_lookup(parent);
	__u64 own = goroutine_reads(parent);

	made->inherited = own ? own : goroutine_request(parent).request;
	if (maker)
		maker->flags |= GOROUTINE_STARTED;
	if (!own && maker &&
	    ((maker->flags & (GOROUTINE_CALLED | GOROUTINE_DOUBTFUL)) ||
	     maker->start == made->start))
		made->flags = GOROUTINE_DOUBTFUL;
}

static __always_inline int writes_stream(const struct runtime *runtime, __u64 start)
{
	for (int i = 0; i < RUNTIME_STREAMS; i++)
		if (runtime->go.streams[i] && runtime->go.streams[i] == start)
			return 1;
	return 0;
}

/*
 * The memory of a goroutine is used again: it is done with what it has read, also where the
 * response has not left yet, for a slow client or since another goroutine writes it.
 */
VERIFIED_ALONE int goroutine_is_new(const struct worker_key *made)
{
	struct worker_key key;
	const struct worker *w;

	if (!made)
		return 0;
	key = *made;
	w = worker_lookup(&key);
	if (w && tally_open(&w->tally))
		context_request_ended(worker_only(w));
	return 0;
}

/*
 * runtime.newproc gives a new goroutine, made on the scheduler's stack, to runtime.runqput. What
 * is known of its memory is over, also where the scheduler itself starts it, for a timer.
 */
SEC("uprobe")
int probe_go_started(struct pt_regs *ctx)
{
	struct goroutine made = {};
	struct goroutine *old;
	struct worker_key parent, child;
	const struct runtime *runtime = NULL;

	if (!current_goroutine(&parent, &runtime) && !runtime)
		return 0;
	child = parent;
	child.context = second_argument(ctx);
	goroutine_is_new(&child);
	made.start = user_read(child.context + GO_G_SCHED_PC);
	if (is_watcher(runtime, made.start))
		made.serves = parent.context;
	else if (writes_stream(runtime, made.start) && parent.context)
		made.handed = goroutine_calls(&parent);
	else
		inherit(&parent, &made);
	if (runtime && runtime->go.dials && runtime->go.dials == made.start)
		made.flags |= GOROUTINE_DIALS;
	old = goroutine_lookup(&child);
	if (old) {
		if (old->inherited)
			rule_learn(child.tgid, old->start, 1); /* it has ended */
		*old = made;
	} else if (made.inherited || made.serves || made.handed.request) {
		goroutine_set(&child, &made);
	}
	return 0;
}

/*
 * net/http.(*persistConn).writeLoop or readLoop begins, in the goroutine that will do it: not
 * for the request for which it was started, but for those that come to the connection.
 */
SEC("uprobe")
int probe_go_connection(struct pt_regs *ctx)
{
	struct goroutine loop = {.connection = first_argument(ctx)};
	struct worker_key key;
	struct process_address at = {};
	struct round_trip *old, trip = {};
	const struct runtime *runtime;

	if (!current_goroutine(&key, &runtime))
		return 0;
	goroutine_set(&key, &loop);
	at.tgid = key.tgid;
	at.address = loop.connection;
	old = round_trips_lookup(&at);
	trip.writer = key.context;
	if (old) /* it may have been handed a request already */
		old->writer = key.context;
	else
		round_trips_add(&at, &trip);
	return 0;
}

/* Note which socket the connection has: its writer will tell by that who it is. */
static __always_inline void await_writer(const struct process_address *at)
{
	struct go_socket found = {.tgid = at->tgid, .connection = at->address};
	__u64 socket = goroutine_socket(at->address);

	if (socket)
		go_sockets_set(&socket, &found);
}

/* net/http.(*persistConn).roundTrip begins, in the goroutine that wants an answer. */
SEC("uprobe")
int probe_go_round_trip(struct pt_regs *ctx)
{
	struct worker_key key;
	const struct runtime *runtime;
	struct process_address at = {};
	struct round_trip *old, trip = {};

	if (!current_goroutine(&key, &runtime))
		return 0;
	at.tgid = key.tgid;
	at.address = first_argument(ctx);
	trip.goroutine = key.context;
	trip.named = goroutine_calls(&key);
	old = round_trips_lookup(&at);
	if (old) {
		trip.writer = old->writer;
		*old = trip;
	} else {
		round_trips_set(&at, &trip);
	}
	if (!trip.writer)
		await_writer(&at);
	return 0;
}

/* runtime.execute puts a goroutine on the current thread. */
SEC("uprobe")
int probe_go_runs(struct pt_regs *ctx)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct worker_key key = {.tgid = id >> 32, .context = first_argument(ctx)};

	if (runtime_shows(key.tgid))
		goroutine_show(&key, (__u32)id);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
