/* SPDX-License-Identifier: Apache-2.0 */
#include "http2_peer.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_MAX  16384
#define READS_MAX 16 /* until others get their turn */
#define WRITE_MAX 40000
#define PAD_MAX   200

int http2_peer_receive(struct http2_peer *peer)
{
	uint8_t bytes[READ_MAX];

	for (int i = 0; i < READS_MAX; i++) {
		ssize_t got = recv(peer->fd, bytes, sizeof(bytes), 0);

		if (got < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : -ECONNRESET;
		if (!got)
			return -ECONNRESET;
		peer->moved = true;
		if (nghttp2_session_mem_recv(peer->session, bytes, (size_t)got) != got)
			return -EPROTO;
	}
	return 0;
}

/* Frames for one write. 0 or -EPROTO. */
static int gather(struct http2_peer *peer)
{
	const size_t goal =
	    rng_between(&peer->rng, 1, rng_percent(&peer->rng, 50) ? 200 : WRITE_MAX);
	const uint8_t *bytes;
	ssize_t len = 1;

	peer->out.len = peer->sent = 0;
	while (peer->out.len < goal && len > 0) {
		len = nghttp2_session_mem_send(peer->session, &bytes);
		if (len < 0)
			return -EPROTO;
		buffer_append(&peer->out, bytes, (size_t)len);
	}
	return 0;
}

int http2_peer_send(struct http2_peer *peer)
{
	int err = 0;

	for (;;) {
		ssize_t sent;

		if (peer->sent == peer->out.len)
			err = gather(peer);
		if (err || peer->sent == peer->out.len)
			return err;
		sent = send(peer->fd, peer->out.data + peer->sent, peer->out.len - peer->sent,
			    MSG_NOSIGNAL);
		if (sent < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : -ECONNRESET;
		peer->sent += (size_t)sent;
		peer->moved = true;
	}
}

bool http2_peer_has_more(const struct http2_peer *peer)
{
	return peer->sent < peer->out.len || nghttp2_session_want_write(peer->session);
}

void http2_peer_close(struct http2_peer *peer)
{
	nghttp2_session_del(peer->session);
	peer->session = NULL;
	buffer_free(&peer->out);
	if (peer->fd >= 0)
		close(peer->fd);
	peer->fd = -1;
}

uint64_t http2_hash_field(uint64_t hash, const uint8_t *name, size_t name_len, const uint8_t *value,
			  size_t value_len)
{
	hash = hash_bytes(hash, name, name_len);
	hash = hash_bytes(hash, ": ", 2);
	hash = hash_bytes(hash, value, value_len);
	return hash_bytes(hash, "\n", 1);
}

ssize_t http2_peer_pad(nghttp2_session *session, const nghttp2_frame *frame, size_t max, void *data)
{
	struct http2_peer *peer = data;
	const size_t len = frame->hd.length + rng_below(&peer->rng, PAD_MAX);

	(void)session;
	if (!rng_percent(&peer->rng, 25))
		return (ssize_t)frame->hd.length;
	return (ssize_t)(len < max ? len : max);
}
