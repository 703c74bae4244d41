// SPDX-License-Identifier: GPL-2.0-only
/*
 * google.golang.org/grpc, which has a server and a client of HTTP/2 of its own. Calls are written
 * by a goroutine of the connection: whoever calls hands it the head, by whose address it is known
 * then. Attached to Go programs that have it.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "runtimes/go/maps.bpf.h"
#include "runtimes/go/stream.bpf.h"
#include "runtimes/go/uprobe.bpf.h"

static __always_inline struct process_address address_of(__u64 address)
{
	return (struct process_address){.tgid = bpf_get_current_pid_tgid() >> 32,
					.address = address};
}

/* Server.handleStream(transport, stream, ...) begins, in the goroutine that serves it. */
SEC("uprobe")
int probe_go_grpc_served(struct pt_regs *ctx)
{
	__u64 transport = third_argument(ctx), stream = ctx->rdi, request;
	__u32 id = (__u32)user_read(stream + GO_GRPC_STREAM_ID);
	const struct runtime *runtime;
	struct worker_key key;

	if (user_read(stream + GO_GRPC_STREAM_TRANSPORT) != transport)
		return 0;
	request = stream_request(user_read(transport + GO_GRPC_SERVER_CONN), id);
	if (!request)
		request = stream_request(user_read(transport + GO_GRPC_SERVER_CONN_NEWER), id);
	if (request && current_goroutine(&key, &runtime))
		stream_taken(&key, request);
	return 0;
}

/* http2Client.NewStream() begins, in the goroutine that calls. */
SEC("uprobe")
int probe_go_grpc_calls(struct pt_regs *ctx)
{
	const struct runtime *runtime;
	struct process_address at;
	struct go_head begun = {};
	struct worker_key key;
	struct named named;

	if (!current_goroutine(&key, &runtime))
		return 0;
	named = goroutine_calls(&key);
	stream_decide(&key, &named, &begun.call);
	at = address_of(key.context);
	go_heads_set(&at, &begun);
	return 0;
}

/*
 * controlBuffer.executeAndPut(check, item): something is handed over to whoever writes. The first
 * one since NewStream() began is the head, which may be put several times until there is room for
 * its stream; what was known of the memory of any other one is over.
 */
SEC("uprobe")
int probe_go_grpc_puts(struct pt_regs *ctx)
{
	struct process_address of = {}, at = address_of(ctx->rdi);
	const struct runtime *runtime;
	struct go_head *begun = NULL;
	struct worker_key key;

	if (current_goroutine(&key, &runtime)) {
		of = address_of(key.context);
		begun = go_heads_lookup(&of);
	}
	if (begun && begun->head == at.address)
		return 0;
	if (!begun || begun->head) {
		go_heads_delete(&at);
		return 0;
	}
	begun->head = at.address;
	go_heads_set(&at, begun);
	return 0;
}

/* loopyWriter.headerHandler(head): a head is written, on a stream whose number it has by now. */
SEC("uprobe")
int probe_go_grpc_writes(struct pt_regs *ctx)
{
	__u64 loopy = first_argument(ctx), writer, socket;
	struct process_address at = address_of(second_argument(ctx));
	const struct go_head *head = go_heads_lookup(&at);
	struct stream_key to = {.stream = (__u32)user_read(at.address + GO_GRPC_HEAD_STREAM)};

	if (!head || user_read(loopy + GO_GRPC_LOOPY_SIDE) != GO_GRPC_CLIENT)
		return 0;
	writer = user_read(user_read(loopy + GO_GRPC_LOOPY_FRAMER) + GO_GRPC_FRAMER_WRITER);
	socket = go_connection_socket(user_read(writer + GO_GRPC_WRITER_CONN));
	if (!socket)
		socket = go_connection_socket(user_read(writer + GO_GRPC_WRITER_CONN_NEWER));
	to.cookie = socket ? connection_cookie(socket) : 0;
	if (to.cookie)
		http2_calls_set(&to, &head->call);
	go_heads_delete(&at);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
