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
	const struct goroutine *goroutine = goroutine_lookup(key);

	if (goroutine && goroutine->serves)
		key->context = goroutine->serves;
}

/* Put the goroutine that runs into `key`, which names the current thread. */
static __always_inline enum runtime_worker go_who_works(const struct runtime *runtime,
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
	const struct go_socket *found = go_sockets_lookup(&socket);
	struct goroutine writer = {};
	struct process_address at = {.tgid = key->tgid};
	struct round_trip *trip;

	if (!found || found->tgid != key->tgid)
		return 0;
	writer.connection = found->connection;
	at.address = found->connection;
	go_sockets_delete(&socket);
	trip = round_trips_lookup(&at);
	if (!trip)
		return 0;
	trip->writer = key->context;
	goroutine_set(key, &writer);
	return writer.connection;
}

/* net/http's client writes from a goroutine of the connection what another one has handed it. */
static __always_inline enum runtime_worker
runtime_round_trip(struct worker_key *key, __u64 connection, struct named *ret_named)
{
	struct process_address at = {.tgid = key->tgid, .address = connection};
	struct round_trip *trip = round_trips_lookup(&at);

	if (!trip || !trip->goroutine)
		return RUNTIME_WORKER_UNKNOWN;
	key->context = trip->goroutine;
	*ret_named = trip->named;
	trip->goroutine = 0;
	return RUNTIME_WORKER_KNOWN;
}

/* As go_who_works(), with what the goroutine works on. */
static __always_inline enum runtime_worker
go_who_connects(const struct runtime *runtime, struct worker_key *key, struct named *ret_named)
{
	enum runtime_worker who = go_who_works(runtime, key);

	if (who == RUNTIME_WORKER_KNOWN)
		*ret_named = goroutine_request(key);
	return who;
}

/* The same, for who sends on a socket at this address. */
static __always_inline enum runtime_worker go_who_calls(const struct runtime *runtime,
							struct worker_key *key, __u64 socket,
							const struct socket *s,
							struct named *ret_named)
{
	enum runtime_worker who = go_who_works(runtime, key);
	const struct goroutine *goroutine;
	__u64 connection;

	if (who != RUNTIME_WORKER_KNOWN)
		return who;
	goroutine = goroutine_lookup(key);
	connection = goroutine ? goroutine->connection : 0;
	if (!connection)
		connection = runtime_learn_writer(key, socket);
	if (connection)
		return runtime_round_trip(key, connection, ret_named);
	*ret_named = goroutine_calls(key);
	return RUNTIME_WORKER_KNOWN;
}

#endif
