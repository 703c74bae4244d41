/* SPDX-License-Identifier: Apache-2.0 */
#include "body.h"

#include "hash.h"
#include "payload.h"

#define PIECE_MAX ((size_t)48 * 1024)
#define CHUNK_MAX ((size_t)16 * 1024)

void body_writer_start(struct body_writer *writer, enum body_kind kind, uint64_t seed,
		       uint64_t length)
{
	*writer = (struct body_writer){
	    .kind = kind,
	    .seed = seed,
	    .length = kind == BODY_NONE ? 0 : length,
	    .hash = HASH_EMPTY,
	    .rng = rng_for(seed, 1),
	};
	writer->done = kind != BODY_CHUNKED && !writer->length;
}

static void write_content(struct body_writer *writer, struct buffer *to, size_t len)
{
	uint8_t *at;

	buffer_reserve(to, len);
	at = to->data + to->len;
	payload_fill(writer->seed, writer->offset, at, len);
	writer->hash = hash_bytes(writer->hash, at, len);
	writer->offset += len;
	to->len += len;
}

static void write_chunk_head(struct body_writer *writer, struct buffer *to, size_t len)
{
	static const char *const extensions[] = {
	    ";a",
	    ";name=value",
	    ";q=\"GET / HTTP/1.1\"",
	};

	switch (rng_below(&writer->rng, 4)) {
	case 0:
		buffer_printf(to, "%zX", len);
		break;
	case 1:
		buffer_printf(to, "00%zx", len);
		break;
	default:
		buffer_printf(to, "%zx", len);
	}
	if (rng_percent(&writer->rng, 20))
		buffer_printf(to, "%s", extensions[rng_below(&writer->rng, 3)]);
	buffer_append(to, "\r\n", 2);
}

static void write_last_chunk(struct body_writer *writer, struct buffer *to)
{
	unsigned int trailers = rng_percent(&writer->rng, 30) ? rng_between(&writer->rng, 1, 3) : 0;

	write_chunk_head(writer, to, 0);
	for (unsigned int i = 0; i < trailers; i++)
		buffer_printf(to, "X-Trailer-%u: GET / HTTP/1.1\r\n", i);
	buffer_append(to, "\r\n", 2);
	writer->done = true;
}

/* Chunks of one byte and of many: half of them are short. */
static size_t chunk_length(struct body_writer *writer)
{
	uint64_t left = writer->length - writer->offset;
	uint64_t want = rng_between(
	    &writer->rng, 1, rng_percent(&writer->rng, 50) && left < CHUNK_MAX ? 64 : CHUNK_MAX);

	return want < left ? want : left;
}

static void write_chunks(struct body_writer *writer, struct buffer *to)
{
	size_t end = to->len + PIECE_MAX;

	while (writer->offset < writer->length && to->len < end) {
		size_t len = chunk_length(writer);

		write_chunk_head(writer, to, len);
		write_content(writer, to, len);
		buffer_append(to, "\r\n", 2);
	}
	if (writer->offset == writer->length)
		write_last_chunk(writer, to);
}

void body_write(struct body_writer *writer, struct buffer *to)
{
	uint64_t left = writer->length - writer->offset;

	if (writer->done)
		return;
	if (writer->kind == BODY_CHUNKED) {
		write_chunks(writer, to);
		return;
	}
	write_content(writer, to, left < PIECE_MAX ? left : PIECE_MAX);
	writer->done = writer->offset == writer->length;
}
