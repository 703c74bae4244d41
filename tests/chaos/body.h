/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of HTTP/1 messages: one writer and one strict reader, for both directions. */
#ifndef CHAOS_BODY_H
#define CHAOS_BODY_H

#include "head.h"
#include "rng.h"

enum body_kind { BODY_NONE, BODY_LENGTH, BODY_CHUNKED, BODY_UNTIL_CLOSE };

/* Where a chunked body stands. */
enum chunk_state {
	CHUNK_SIZE,
	CHUNK_EXTENSION,
	CHUNK_SIZE_LF,
	CHUNK_DATA,
	CHUNK_DATA_CR,
	CHUNK_DATA_LF,
	CHUNK_TRAILER_START,
	CHUNK_TRAILER_NAME,
	CHUNK_TRAILER_VALUE,
	CHUNK_TRAILER_LF,
	CHUNK_END_LF,
};

struct body_reader {
	enum body_kind kind;
	enum chunk_state chunk;
	unsigned int digits;
	uint64_t left;
	uint64_t length, hash;
	bool done;
	const char *why;
};

struct body_writer {
	enum body_kind kind;
	uint64_t seed, length, offset;
	uint64_t hash;
	struct rng rng;
	bool done;
};

/*
 * Read the framing fields of a checked head: Content-Length or Transfer-Encoding: chunked.
 * Gives BODY_NONE when there is neither. 0, or -EPROTO with a text in `*ret_why`.
 */
int body_framing(const struct head *head, enum body_kind *ret_kind, uint64_t *ret_length,
		 const char **ret_why);

/* Begin a body; `length` counts for BODY_LENGTH only. */
void body_reader_start(struct body_reader *reader, enum body_kind kind, uint64_t length);

/*
 * Take bytes of the stream until `done`. Returns how many were consumed, or -EPROTO with a text
 * in `why`. `length` and `hash` are those of the content, without the framing.
 */
ssize_t body_read(struct body_reader *reader, const uint8_t *data, size_t len);

/* Begin to write the body with this seed (see payload.h). */
void body_writer_start(struct body_writer *writer, enum body_kind kind, uint64_t seed,
		       uint64_t length);

/* Append the next bytes of the body, some 64 KiB at most; sets `done` with the last ones. */
void body_write(struct body_writer *writer, struct buffer *to);

#endif
