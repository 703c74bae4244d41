// SPDX-License-Identifier: GPL-2.0-only
/*
 * HTTP/2 in Go, of net/http and golang.org/x/net/http2: which goroutine serves which stream, and
 * for whom a stream is begun. Attached to Go programs that have it.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "engine/stream_maps.bpf.h"
#include "probes/connection.bpf.h"
#include "probes/decide.bpf.h"
#include "engine/engine.h"
#include "runtimes/go/connection.bpf.h"
#include "runtimes/go/goroutine.bpf.h"
#include "runtimes/go/uprobe.bpf.h"

/* The request of a stream of the server's connection at this address; 0: none is known. */
static __always_inline __u64 stream_request(__u64 connection, __u32 stream)
{
	__u64 socket = go_connection_socket(connection);
	const struct streams *streams;
	struct flow_key key;

	if (!socket || connection_key(socket, &key))
		return 0;
	streams = http2_served_lookup(&key);
	return streams ? streams_request(streams, stream) : 0;
}

/*
 * The request that is served with this responseWriter, by this serverConn; 0: none is known, or
 * they do not belong together: then they are not what they are taken for.
 */
static __always_inline __u64 writer_request(__u64 server, __u64 writer)
{
	__u64 state = user_read(writer + GO_WRITER_STATE);
	__u64 stream = state ? user_read(state + GO_STATE_STREAM) : 0;
	__u64 connection, request;
	__u32 id;

	if (!stream || user_read(stream + GO_STREAM_CONN) != server ||
	    user_read(state + GO_STATE_CONN) != server)
		return 0;
	id = (__u32)user_read(stream + GO_STREAM_ID);
	connection = user_read(server + GO_SERVER_CONN);
	request = stream_request(connection, id);
	return request ? request : stream_request(user_read(connection + GO_BUFFERED_CONN), id);
}

/* The goroutine serves a request from now on. */
VERIFIED_ALONE int stream_taken(const struct worker_key *by, __u64 request)
{
	struct actor a = {.kind = ACTOR_RUNTIME, .by = EVIDENCE_GOROUTINE, .runtime = RUNTIME_GO};

	if (!by)
		return 0;
	a.key = *by;
	engine_take(request, &a, bpf_ktime_get_ns());
	return 0;
}

/* serverConn.runHandler(writer, request, handler) begins, in a goroutine of its own. */
SEC("uprobe")
int probe_go_stream_served(struct pt_regs *ctx)
{
	__u64 request = writer_request(first_argument(ctx), second_argument(ctx));
	const struct runtime *runtime;
	struct worker_key key;

	if (request && current_goroutine(&key, &runtime))
		stream_taken(&key, request);
	return 0;
}

/* What the engine says of a call that the goroutine begins now. */
VERIFIED_ALONE int stream_decide(const struct worker_key *by, struct call *ret_call)
{
	struct actor a = {.kind = ACTOR_RUNTIME, .by = EVIDENCE_GOROUTINE, .runtime = RUNTIME_GO};
	struct named named;
	struct verdict v;

	if (!by || !ret_call)
		return 0;
	a.key = *by;
	named = goroutine_request(&a.key);
	a.named = named.request;
	a.doubtful = named.doubtful;
	a.own = named.own;
	v = decide_work(actor_worker(&a), actor_process(&a), &a);
	call_fill(ret_call, &v, &a, 0, 0);
	return 0;
}

/*
 * ClientConn.writeHeaders(stream, ...): the number of a stream is given out, and its head is
 * written, in the goroutine that the request was handed to or, in old versions, that makes it.
 */
SEC("uprobe")
int probe_go_stream_called(struct pt_regs *ctx)
{
	__u64 socket = go_connection_socket(user_read(first_argument(ctx) + GO_CLIENT_CONN));
	struct stream_key at = {.stream = (__u32)second_argument(ctx)};
	const struct runtime *runtime;
	struct worker_key key;
	struct call call;

	if (!socket || !current_goroutine(&key, &runtime))
		return 0;
	at.cookie = connection_cookie(socket);
	if (!at.cookie)
		return 0;
	__builtin_memset(&call, 0, sizeof(call));
	stream_decide(&key, &call);
	call.tid = (__u32)bpf_get_current_pid_tgid();
	http2_calls_set(&at, &call);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
