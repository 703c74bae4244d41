// SPDX-License-Identifier: GPL-2.0-only
/*
 * HTTP/2 in Go, of net/http and golang.org/x/net/http2: which goroutine serves which stream, and
 * for whom a stream is begun. Attached to Go programs that have it.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "runtimes/go/stream.bpf.h"
#include "runtimes/go/uprobe.bpf.h"

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
	struct named named;
	struct call call;

	if (!socket || !current_goroutine(&key, &runtime))
		return 0;
	at.cookie = connection_cookie(socket);
	if (!at.cookie)
		return 0;
	__builtin_memset(&call, 0, sizeof(call));
	named = goroutine_request(&key);
	stream_decide(&key, &named, &call);
	http2_calls_set(&at, &call);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
