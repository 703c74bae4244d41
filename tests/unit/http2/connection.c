// SPDX-License-Identifier: Apache-2.0
#include <nghttp2/nghttp2.h>
#include <stdlib.h>
#include <string.h>

#include "connection.h"

#define BLOCK_MAX  16384
#define FIELDS_MAX 24
#define VALUE_MAX  400

enum {
	DATA,
	HEADERS,
	PRIORITY,
	RST_STREAM,
	SETTINGS,
	PUSH_PROMISE,
	PING,
	GOAWAY,
	WINDOW_UPDATE,
	CONTINUATION
};
enum { END_STREAM = 1, END_HEADERS = 4, PADDED = 8, WITH_PRIORITY = 0x20 };

static const char *const names[] = {
    "accept",        "user-agent", "te",           "content-type", "grpc-timeout",  "traceparen",
    "traceparenu",   "tracestatf", "x-request-id", "cookie",       "authorization", "a",
    "x-trace-parent"};
#define NAMES (sizeof(names) / sizeof(names[0]))

uint32_t choose(struct choices *c, uint32_t n)
{
	uint32_t chosen = 0;

	for (int i = 0; i < 2 && c->next < c->len; i++)
		chosen = chosen << 8 | c->bytes[c->next++];
	return chosen % n;
}

static void put(struct connection *to, const void *bytes, size_t len)
{
	if (to->len + len > sizeof(to->byte))
		abort();
	memcpy(to->byte + to->len, bytes, len);
	to->len += len;
}

static void put_frame_header(struct connection *to, size_t len, uint8_t type, uint8_t flags,
			     uint32_t stream)
{
	uint8_t header[9] = {len >> 16,    len >> 8,     len,         type,  flags,
			     stream >> 24, stream >> 16, stream >> 8, stream};

	put(to, header, sizeof(header));
}

static void put_frame(struct connection *to, size_t len, uint8_t type, uint8_t flags,
		      uint32_t stream)
{
	static const uint8_t zero[BLOCK_MAX];

	put_frame_header(to, len, type, flags, stream);
	put(to, zero, len);
}

/* A literal that touches no table, with a name that is not coded. Returns its length. */
static size_t plain_literal(uint8_t *to, const char *name, const char *value, int never)
{
	size_t name_len = strlen(name), value_len = strlen(value);

	to[0] = never ? 0x10 : 0;
	to[1] = name_len;
	memcpy(to + 2, name, name_len);
	to[2 + name_len] = value_len;
	memcpy(to + 3 + name_len, value, value_len);
	return 3 + name_len + value_len;
}

static nghttp2_nv field(const char *name, const char *value, size_t value_len, int no_index)
{
	return (nghttp2_nv){(uint8_t *)name, (uint8_t *)value, strlen(name), value_len,
			    no_index ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE};
}

/* Chosen fields of a block, behind the pseudo-header fields that are there. Returns how many there
 * are. */
static size_t choose_fields(nghttp2_nv *nv, size_t count, struct block *b, struct choices *c)
{
	static char values[FIELDS_MAX][VALUE_MAX];
	static const char *const parents[] = {
	    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "x", ""};

	for (uint32_t more = choose(c, 10); more && count < FIELDS_MAX; more--) {
		uint32_t which = choose(c, NAMES + 4);
		char *value = values[count];
		size_t len = choose(c, 8) ? choose(c, 12) : choose(c, VALUE_MAX);

		memset(value, 'a' + choose(c, 26), len);
		if (which < NAMES) {
			nv[count++] = field(names[which], value, len, !choose(c, 4));
		} else if (which < NAMES + 2) {
			const char *parent = parents[choose(c, 3)];

			nv[count++] = field("traceparent", parent, strlen(parent), !choose(c, 3));
			b->parents++;
		} else if (which == NAMES + 2) {
			nv[count++] = field("tracestate", value, len, !choose(c, 3));
			b->states++;
		}
	}
	return count;
}

/* A header block. Returns its length. */
static size_t make_block(uint8_t *to, nghttp2_hd_deflater *deflater, struct block *b,
			 struct choices *c)
{
	nghttp2_nv nv[FIELDS_MAX + 4];
	size_t count = 0;
	ssize_t len;

	if (b->request) {
		nv[count++] =
		    field(":method", choose(c, 3) ? "POST" : "PURGE", choose(c, 3) ? 4 : 3, 0);
		nv[0].valuelen = strlen((const char *)nv[0].value);
		nv[count++] = field(":scheme", "http", 4, 0);
		nv[count++] = field(":path", choose(c, 2) ? "/a" : "/b", 2, !choose(c, 2));
	} else {
		nv[count++] = field("grpc-status", "0", 1, !choose(c, 2));
	}
	count = choose_fields(nv, count, b, c);
	if (!choose(c, 6))
		nghttp2_hd_deflate_change_table_size(deflater, choose(c, 5000));
	len = nghttp2_hd_deflate_hd(deflater, to, BLOCK_MAX - 200, nv, count);
	if (len < 0)
		abort();
	if (!choose(c, 5)) {
		len += plain_literal(to + len, "traceparent", "1", !choose(c, 2));
		b->parents++;
	}
	if (!choose(c, 8)) {
		len += plain_literal(to + len, "tracestate", "a=1", !choose(c, 2));
		b->states++;
	}
	if (!choose(c, 5))
		len += plain_literal(to + len, names[choose(c, NAMES)], "", 0);
	return len;
}

/* What stands before the block in its first frame, and behind it. */
struct dressing {
	uint8_t flags, pad;
};

/* The first frame of a block, with its first `len` bytes. Returns where they end. */
static size_t put_headers(struct connection *to, const uint8_t *bytes, size_t len,
			  struct dressing d, uint32_t stream)
{
	static const uint8_t zero[256];
	size_t end, before = (d.flags & PADDED ? 1 : 0) + (d.flags & WITH_PRIORITY ? 5 : 0);

	put_frame_header(to, len + before + d.pad, HEADERS, d.flags, stream);
	if (d.flags & PADDED)
		put(to, &d.pad, 1);
	put(to, zero, d.flags & WITH_PRIORITY ? 5 : 0);
	put(to, bytes, len);
	end = to->len;
	put(to, zero, d.pad);
	return end;
}

static void put_block(struct connection *to, struct block *b, const uint8_t *bytes, size_t len,
		      struct choices *c)
{
	struct dressing d = {.flags = b->ends_stream ? END_STREAM : 0};
	size_t first = len;

	if (!choose(c, 4)) {
		d.flags |= PADDED;
		d.pad = choose(c, 256);
	}
	if (!choose(c, 4))
		d.flags |= WITH_PRIORITY;
	b->continued = !choose(c, 5);
	if (b->continued)
		first = choose(c, len + 1);
	else
		d.flags |= END_HEADERS;
	b->begin = to->len;
	b->end = put_headers(to, bytes, first, d, b->stream);
	while (b->continued && !(d.flags & END_HEADERS)) {
		size_t n = choose(c, 2) ? choose(c, len - first + 1) : len - first;

		d.flags |= first + n == len ? END_HEADERS : 0;
		put_frame_header(to, n, CONTINUATION, d.flags & END_HEADERS, b->stream);
		put(to, bytes + first, n);
		first += n;
		b->end = to->len;
	}
}

/* A frame that has nothing to do with requests. */
static void put_other(struct connection *to, uint32_t stream, struct choices *c)
{
	switch (choose(c, 6)) {
	case 0:
		put_frame(to, choose(c, 600), DATA, choose(c, 2) ? END_STREAM : 0, stream);
		break;
	case 1:
		put_frame(to, 5, PRIORITY, 0, stream);
		break;
	case 2:
		put_frame(to, 4, RST_STREAM, 0, stream);
		break;
	case 3:
		put_frame(to, 8, PING, choose(c, 2), 0);
		break;
	case 4:
		put_frame(to, 4, WINDOW_UPDATE, 0, 0);
		break;
	default:
		put_frame(to, choose(c, 40), 10 + choose(c, 246), choose(c, 256), stream);
	}
}

void connection_make(struct connection *to, struct choices *c)
{
	static uint8_t bytes[BLOCK_MAX];
	nghttp2_hd_deflater *deflater;
	uint32_t stream = 1;

	to->len = to->count = 0;
	if (nghttp2_hd_deflate_new(&deflater, 4096))
		abort();
	put(to, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 24);
	put_frame(to, 6 * choose(c, 3), SETTINGS, 0, 0);
	while (c->next < c->len && to->count < CONNECTION_BLOCKS &&
	       to->len < CONNECTION_BYTES - 2 * BLOCK_MAX) {
		struct block *b = &to->block[to->count++];

		*b = (struct block){.request = !to->count || choose(c, 5) || to->count == 1,
				    .ends_stream = choose(c, 2)};
		b->stream = b->request ? stream : stream - 2;
		stream += b->request ? 2 : 0;
		put_block(to, b, bytes, make_block(bytes, deflater, b, c), c);
		while (choose(c, 2))
			put_other(to, b->stream, c);
	}
	nghttp2_hd_deflate_del(deflater);
}

/* A block that is being put together. */
struct decoding {
	nghttp2_hd_inflater *inflater;
	uint8_t byte[2 * BLOCK_MAX];
	size_t len, block;
};

static const char *decode_block(struct decoding *d,
				void (*each)(void *, size_t, const char *, size_t, const char *,
					     size_t),
				void *context)
{
	const uint8_t *at = d->byte;
	size_t left = d->len;
	int flags = 0;

	while (!(flags & NGHTTP2_HD_INFLATE_FINAL)) {
		nghttp2_nv nv;
		ssize_t n = nghttp2_hd_inflate_hd2(d->inflater, &nv, &flags, at, left, 1);

		if (n < 0)
			return "a header block cannot be decoded";
		at += n;
		left -= n;
		if (flags & NGHTTP2_HD_INFLATE_EMIT)
			each(context, d->block, (char *)nv.name, nv.namelen, (char *)nv.value,
			     nv.valuelen);
		else if (!n && !left)
			break;
	}
	nghttp2_hd_inflate_end_headers(d->inflater);
	d->block++;
	d->len = 0;
	return left ? "bytes are left of a header block" : NULL;
}

static const char *decode_frames(struct decoding *d, const uint8_t *bytes, size_t len,
				 void (*each)(void *, size_t, const char *, size_t, const char *,
					      size_t),
				 void *context)
{
	const char *wrong = NULL;

	for (size_t at = 24; at < len && !wrong;) {
		size_t frame_len, from, pad = 0;
		uint8_t type, flags;

		if (len - at < 9)
			return "a frame's header is cut";
		frame_len = bytes[at] << 16 | bytes[at + 1] << 8 | bytes[at + 2];
		type = bytes[at + 3];
		flags = bytes[at + 4];
		from = at + 9;
		at = from + frame_len;
		if (at > len)
			return "a frame is cut";
		if (type != HEADERS && type != CONTINUATION)
			continue;
		if (type == HEADERS && flags & PADDED)
			pad = bytes[from++];
		if (type == HEADERS && flags & WITH_PRIORITY)
			from += 5;
		memcpy(d->byte + d->len, bytes + from, at - pad - from);
		d->len += at - pad - from;
		if (flags & END_HEADERS)
			wrong = decode_block(d, each, context);
	}
	return wrong;
}

const char *connection_decode(const uint8_t *bytes, size_t len,
			      void (*each)(void *, size_t, const char *, size_t, const char *,
					   size_t),
			      void *context)
{
	static struct decoding d;
	const char *wrong;

	d.len = d.block = 0;
	if (nghttp2_hd_inflate_new(&d.inflater))
		abort();
	nghttp2_hd_inflate_change_table_size(d.inflater, 4096);
	wrong = decode_frames(&d, bytes, len, each, context);
	nghttp2_hd_inflate_del(d.inflater);
	return wrong;
}
