/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chaos server of HTTP/2: tells of every request what nghttp2 has decoded of it (http2_peer.h).
 * One thread, epoll.
 */
#include "http2_peer.h"
#include "payload.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define EVENTS_MAX  128
#define STREAMS_MAX 200
#define FILES_MAX   20000

struct stream {
	uint64_t fields, body;
	uint64_t size, sent; /* of the answer */
	unsigned int parents;
	char parent[HTTP2_PARENT_LEN + 1];
	bool answered;
	LIST_ENTRY(stream) others;
};

/* What nghttp2's callbacks get: also as the peer that it begins with. */
struct conn {
	struct http2_peer peer;
	LIST_HEAD(, stream) streams;
};

static int poller;
static nghttp2_session_callbacks *callbacks;

static void fail(const char *what)
{
	fprintf(stderr, "http2_server: %s: %s\n", what, strerror(errno));
	exit(2);
}

static bool has_name(const uint8_t *name, size_t len, const char *wanted)
{
	return len == strlen(wanted) && !memcmp(name, wanted, len);
}

static int on_begin(nghttp2_session *session, const nghttp2_frame *frame, void *data)
{
	struct conn *conn = data;
	struct stream *stream;

	if (frame->headers.cat != NGHTTP2_HCAT_REQUEST)
		return 0;
	stream = calloc(1, sizeof(*stream));
	if (!stream)
		return NGHTTP2_ERR_CALLBACK_FAILURE;
	LIST_INSERT_HEAD(&conn->streams, stream, others);
	stream->fields = stream->body = HASH_EMPTY;
	return nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, stream);
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
		     size_t name_len, const uint8_t *value, size_t value_len, uint8_t flags,
		     void *data)
{
	struct stream *stream = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);

	(void)flags;
	(void)data;
	if (!stream)
		return 0;
	if (has_name(name, name_len, HTTP2_PARENT)) {
		stream->parents++;
		snprintf(stream->parent, sizeof(stream->parent), "%.*s", (int)value_len, value);
		return 0;
	}
	if (has_name(name, name_len, HTTP2_ASKED_SIZE))
		stream->size = strtoull((const char *)value, NULL, 10);
	stream->fields = http2_hash_field(stream->fields, name, name_len, value, value_len);
	return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *bytes,
		   size_t len, void *data)
{
	struct stream *stream = nghttp2_session_get_stream_user_data(session, id);

	(void)flags;
	(void)data;
	if (stream)
		stream->body = hash_bytes(stream->body, bytes, len);
	return 0;
}

/* The body of an answer. */
static ssize_t read_answer(nghttp2_session *session, int32_t id, uint8_t *bytes, size_t room,
			   uint32_t *flags, nghttp2_data_source *source, void *data)
{
	struct stream *stream = source->ptr;
	size_t len = stream->size - stream->sent;

	(void)session;
	(void)data;
	len = len < room ? len : room;
	payload_fill((uint64_t)id, stream->sent, bytes, len);
	stream->sent += len;
	if (stream->sent == stream->size)
		*flags |= NGHTTP2_DATA_FLAG_EOF;
	return (ssize_t)len;
}

static nghttp2_nv field(const char *name, const char *value)
{
	return (nghttp2_nv){(uint8_t *)name, (uint8_t *)value, strlen(name), strlen(value),
			    NGHTTP2_NV_FLAG_NONE};
}

static int answer(nghttp2_session *session, int32_t id, struct stream *stream)
{
	const nghttp2_data_provider body = {{.ptr = stream}, read_answer};
	char fields[24], hash[24], parents[24];

	snprintf(fields, sizeof(fields), "%016" PRIx64, stream->fields);
	snprintf(hash, sizeof(hash), "%016" PRIx64, stream->body);
	snprintf(parents, sizeof(parents), "%u", stream->parents);
	const nghttp2_nv told[] = {field(":status", "200"), field(HTTP2_TOLD_FIELDS, fields),
				   field(HTTP2_TOLD_BODY, hash), field(HTTP2_TOLD_PARENTS, parents),
				   field(HTTP2_TOLD_PARENT, stream->parent)};

	stream->answered = true;
	return nghttp2_submit_response(session, id, told, sizeof(told) / sizeof(told[0]), &body);
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *data)
{
	struct stream *stream = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);

	(void)data;
	if ((frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) ||
	    !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM) || !stream || stream->answered)
		return 0;
	return answer(session, frame->hd.stream_id, stream);
}

static int on_close(nghttp2_session *session, int32_t id, uint32_t code, void *data)
{
	struct stream *stream = nghttp2_session_get_stream_user_data(session, id);

	(void)code;
	(void)data;
	if (stream)
		LIST_REMOVE(stream, others);
	free(stream);
	return 0;
}

static int on_invalid(nghttp2_session *session, const nghttp2_frame *frame, int code, void *data)
{
	(void)session;
	(void)data;
	fprintf(stderr, "http2_server: a frame of type %d: %s\n", frame->hd.type,
		nghttp2_strerror(code));
	return 0;
}

static void prepare_callbacks(void)
{
	nghttp2_session_callbacks_new(&callbacks);
	nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin);
	nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
	nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
	nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
	nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks, on_invalid);
	nghttp2_session_callbacks_set_select_padding_callback(callbacks, http2_peer_pad);
}

/* What it tells clients of itself; the table that they may use has another size each time. */
static void greet(struct http2_peer *peer)
{
	static const uint32_t tables[] = {4096, 0, 65536, 200};
	const nghttp2_settings_entry entries[] = {
	    {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, STREAMS_MAX},
	    {NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, tables[peer->rng.state % 4]},
	    {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1 << 20},
	};

	nghttp2_submit_settings(peer->session, NGHTTP2_FLAG_NONE, entries,
				sizeof(entries) / sizeof(entries[0]));
	nghttp2_session_set_local_window_size(peer->session, NGHTTP2_FLAG_NONE, 0, 1 << 20);
}

static void watch(struct conn *conn, int how)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = conn};

	if (http2_peer_has_more(&conn->peer))
		event.events |= EPOLLOUT;
	epoll_ctl(poller, how, conn->peer.fd, &event);
}

static void accept_one(int listener)
{
	static uint64_t accepted;
	const int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	struct conn *conn = fd < 0 ? NULL : calloc(1, sizeof(*conn));

	if (!conn)
		return;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
	conn->peer.fd = fd;
	conn->peer.rng = rng_for(1, accepted++);
	LIST_INIT(&conn->streams);
	if (nghttp2_session_server_new(&conn->peer.session, callbacks, conn))
		fail("nghttp2");
	greet(&conn->peer);
	watch(conn, EPOLL_CTL_ADD);
}

static void end(struct conn *conn)
{
	struct stream *stream;

	http2_peer_close(&conn->peer);
	while ((stream = LIST_FIRST(&conn->streams))) {
		LIST_REMOVE(stream, others);
		free(stream);
	}
	free(conn);
}

static void serve(struct conn *conn, uint32_t events)
{
	struct http2_peer *peer = &conn->peer;
	int err = events & ~EPOLLOUT ? http2_peer_receive(peer) : 0;

	if (!err)
		err = http2_peer_send(peer);
	if (err || (!nghttp2_session_want_read(peer->session) && !http2_peer_has_more(peer)))
		end(conn);
	else
		watch(conn, EPOLL_CTL_MOD);
}

static int listen_on(uint16_t port)
{
	struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
	const int fd = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
	setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &(int){0}, sizeof(int));
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 4096))
		fail("cannot listen");
	return fd;
}

int main(int argc, char **argv)
{
	struct epoll_event events[EVENTS_MAX], event = {.events = EPOLLIN};
	int listener;

	if (argc != 2) {
		fputs("Usage: http2_server PORT\n"
		      "Answers requests of HTTP/2, without TLS, with hashes of what it received.\n"
		      "Prints \"ready\" when it listens, on IPv4 and IPv6.\n",
		      stderr);
		return 2;
	}
	setrlimit(RLIMIT_NOFILE, &(struct rlimit){FILES_MAX, FILES_MAX});
	prepare_callbacks();
	listener = listen_on((uint16_t)atoi(argv[1]));
	poller = epoll_create1(EPOLL_CLOEXEC);
	epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event);
	puts("ready");
	fflush(stdout);
	for (;;) {
		const int n = epoll_wait(poller, events, EVENTS_MAX, -1);

		for (int i = 0; i < n; i++) {
			if (events[i].data.ptr)
				serve(events[i].data.ptr, events[i].events);
			else
				accept_one(listener);
		}
	}
}
