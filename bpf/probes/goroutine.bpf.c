// SPDX-License-Identifier: GPL-2.0-only
/*
 * What goroutines do for each other, seen at a few places of a Go program: where a goroutine is
 * made, and where net/http's client hands a request to the goroutine that writes it. Attached to
 * programs that take requests; to channels only in those that have calls of unknown goroutines.
 * (Arguments stand in registers since Go 1.17.)
 */
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "probes/goroutine.bpf.h"
#include "probes/goroutine_socket.bpf.h"

/* Arguments of a Go function. */
static __always_inline __u64 first_argument(const struct pt_regs *ctx)
{
	return ctx->rax;
}

static __always_inline __u64 second_argument(const struct pt_regs *ctx)
{
	return ctx->rbx;
}

/* The current goroutine, if this is a Go program that is known. */
static __always_inline int current_goroutine(struct worker_key *ret_key,
					     const struct runtime **ret_runtime)
{
	const struct runtime *runtime;

	*ret_key = (struct worker_key){.tgid = bpf_get_current_pid_tgid() >> 32};
	runtime = runtime_lookup(ret_key->tgid);
	if (!runtime || runtime->kind != RUNTIME_GO)
		return 0;
	ret_key->goroutine = goroutine_current(runtime);
	*ret_runtime = runtime;
	return ret_key->goroutine != 0;
}

static __always_inline int is_watcher(const struct runtime *runtime, __u64 start)
{
	for (int i = 0; i < RUNTIME_WATCHERS; i++)
		if (runtime->watchers[i] && runtime->watchers[i] == start)
			return 1;
	return 0;
}

/* What was known of a goroutine whose memory is used again: it has ended. */
static __always_inline void count_end(__u32 tgid, const struct goroutine *goroutine)
{
	struct process_address at = {.tgid = tgid, .address = goroutine->start};
	struct start *start = bpf_map_lookup_elem(&starts, &at);
	struct start first = {.ended = 1};

	if (start)
		__sync_fetch_and_add(&start->ended, 1);
	else
		bpf_map_update_elem(&starts, &at, &first, BPF_NOEXIST);
}

/* runtime.newproc gives a new goroutine, made on the scheduler's stack, to runtime.runqput. */
SEC("uprobe")
int probe_go_started(struct pt_regs *ctx)
{
	struct goroutine made = {};
	struct goroutine *old;
	struct worker_key parent, child;
	const struct runtime *runtime;

	if (!current_goroutine(&parent, &runtime))
		return 0;
	child = parent;
	child.goroutine = second_argument(ctx);
	made.start = go_read(child.goroutine + GO_G_SCHED_PC);
	if (is_watcher(runtime, made.start))
		made.serves = parent.goroutine;
	else
		made.inherited = goroutine_request(&parent).request;
	old = bpf_map_lookup_elem(&goroutines, &child);
	if (old) {
		if (old->inherited)
			count_end(child.tgid, old);
		*old = made;
	} else if (made.inherited || made.serves) {
		bpf_map_update_elem(&goroutines, &child, &made, BPF_ANY);
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
	bpf_map_update_elem(&goroutines, &key, &loop, BPF_ANY);
	at.tgid = key.tgid;
	at.address = loop.connection;
	old = bpf_map_lookup_elem(&round_trips, &at);
	trip.writer = key.goroutine;
	if (old) /* it may have been handed a request already */
		old->writer = key.goroutine;
	else
		bpf_map_update_elem(&round_trips, &at, &trip, BPF_NOEXIST);
	return 0;
}

/* Note which socket the connection has: its writer will tell by that who it is. */
static __always_inline void await_writer(const struct process_address *at)
{
	struct go_socket found = {.tgid = at->tgid, .connection = at->address};
	__u64 socket = goroutine_socket(at->address);

	if (socket)
		bpf_map_update_elem(&go_sockets, &socket, &found, BPF_ANY);
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
	trip.goroutine = key.goroutine;
	trip.named = goroutine_calls(&key);
	old = bpf_map_lookup_elem(&round_trips, &at);
	if (old) {
		trip.writer = old->writer;
		*old = trip;
	} else {
		bpf_map_update_elem(&round_trips, &at, &trip, BPF_ANY);
	}
	if (!trip.writer)
		await_writer(&at);
	return 0;
}

/*
 * A message goes from one goroutine to another without a stay in between. Of other channels is
 * not known whose message it is.
 */
static __always_inline void handed(__u64 channel, const struct worker_key *from,
				   const struct worker_key *to)
{
	const struct goroutine *sender = bpf_map_lookup_elem(&goroutines, from);
	struct goroutine *receiver = bpf_map_lookup_elem(&goroutines, to);
	struct goroutine first = {};

	if (worker_lookup(to) || (sender && sender->connection))
		return; /* it reads requests itself, or gets an answer that it has waited for */
	if (!go_read(channel + GO_HCHAN_DATAQSIZ))
		first.handed = goroutine_request(from).request;
	if (receiver)
		receiver->handed = first.handed;
	else if (first.handed)
		bpf_map_update_elem(&goroutines, to, &first, BPF_ANY);
}

/* runtime.send: the current goroutine finds one that waits to receive. */
SEC("uprobe")
int probe_go_send(struct pt_regs *ctx)
{
	struct worker_key from, to;
	const struct runtime *runtime;

	if (!current_goroutine(&from, &runtime))
		return 0;
	to = from;
	to.goroutine = go_read(second_argument(ctx) + GO_SUDOG_G);
	handed(first_argument(ctx), &from, &to);
	return 0;
}

/* runtime.recv: the current goroutine finds one that waits to send. */
SEC("uprobe")
int probe_go_receive(struct pt_regs *ctx)
{
	struct worker_key from, to;
	const struct runtime *runtime;

	if (!current_goroutine(&to, &runtime))
		return 0;
	from = to;
	from.goroutine = go_read(second_argument(ctx) + GO_SUDOG_G);
	handed(first_argument(ctx), &from, &to);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
