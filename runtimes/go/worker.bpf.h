/* SPDX-License-Identifier: GPL-2.0-only */
/* Go: the goroutine that runs, and for which one a connection of net/http is written to. */
#ifndef CTXPROP_RUNTIMES_GO_WORKER_BPF_H
#define CTXPROP_RUNTIMES_GO_WORKER_BPF_H

#include "runtimes/go/goroutine.bpf.h"
#include "runtimes/go/maps.bpf.h"
#include "runtimes/worker_kind.bpf.h"

/* Another goroutine does a part of this one's work: net/http watches a connection it serves. */
static __always_inline void runtime_served(struct worker_key *key)
{
	const struct goroutine *goroutine = bpf_map_lookup_elem(&goroutines, key);

	if (goroutine && goroutine->serves)
		key->context = goroutine->serves;
}

/* Put the goroutine that runs into `key`, which names the current thread. */
static __always_inline enum runtime_worker runtime_goroutine(const struct runtime *runtime,
							     struct worker_key *key)
{
	__u64 g = goroutine_current(runtime);

	if (!g)
		return RUNTIME_WORKER_UNKNOWN;
	key->tid = 0;
	key->context = g;
	runtime_served(key);
	return RUNTIME_WORKER_KNOWN;
}

/* The writer of a connection that was there before the process was looked at shows itself. */
static __always_inline __u64 runtime_learn_writer(const struct worker_key *key, __u64 socket)
{
	const struct go_socket *found = bpf_map_lookup_elem(&go_sockets, &socket);
	struct goroutine writer = {};
	struct process_address at = {.tgid = key->tgid};
	struct round_trip *trip;

	if (!found || found->tgid != key->tgid)
		return 0;
	writer.connection = found->connection;
	at.address = found->connection;
	bpf_map_delete_elem(&go_sockets, &socket);
	trip = bpf_map_lookup_elem(&round_trips, &at);
	if (!trip)
		return 0;
	trip->writer = key->context;
	bpf_map_update_elem(&goroutines, key, &writer, BPF_ANY);
	return writer.connection;
}

/* net/http's client writes from a goroutine of the connection what another one has handed it. */
static __always_inline enum runtime_worker
runtime_round_trip(struct worker_key *key, __u64 connection, struct named *ret_named)
{
	struct process_address at = {.tgid = key->tgid, .address = connection};
	struct round_trip *trip = bpf_map_lookup_elem(&round_trips, &at);

	if (!trip || !trip->goroutine)
		return RUNTIME_WORKER_UNKNOWN;
	key->context = trip->goroutine;
	*ret_named = trip->named;
	trip->goroutine = 0;
	return RUNTIME_WORKER_KNOWN;
}

/* As runtime_sender(), for the goroutine that `key` names. */
static __always_inline enum runtime_worker
runtime_goroutine_sends(struct worker_key *key, __u64 socket, struct named *ret_named)
{
	const struct goroutine *goroutine = bpf_map_lookup_elem(&goroutines, key);
	__u64 connection = goroutine ? goroutine->connection : 0;

	if (!connection)
		connection = runtime_learn_writer(key, socket);
	if (connection)
		return runtime_round_trip(key, connection, ret_named);
	*ret_named = goroutine_calls(key);
	return RUNTIME_WORKER_KNOWN;
}

#endif
