/* SPDX-License-Identifier: Apache-2.0 */
#include "body.h"

#include "hash.h"

#include <errno.h>

static int framing_length(const struct field *field, enum body_kind *ret_kind, uint64_t *ret_length,
			  const char **ret_why)
{
	if (text_number(field->value, field->value_len, ret_length)) {
		*ret_why = "Content-Length is not a number";
		return -EPROTO;
	}
	*ret_kind = BODY_LENGTH;
	return 0;
}

int body_framing(const struct head *head, enum body_kind *ret_kind, uint64_t *ret_length,
		 const char **ret_why)
{
	struct field length, encoding;
	int lengths = head_find(head, "Content-Length", &length);
	int encodings = head_find(head, "Transfer-Encoding", &encoding);

	*ret_kind = BODY_NONE;
	*ret_length = 0;
	if (lengths < 0 || encodings < 0 || (lengths && encodings)) {
		*ret_why = "the body's length is stated twice";
		return -EPROTO;
	}
	if (lengths)
		return framing_length(&length, ret_kind, ret_length, ret_why);
	if (!encodings)
		return 0;
	if (!text_is(encoding.value, encoding.value_len, "chunked")) {
		*ret_why = "Transfer-Encoding is not chunked";
		return -EPROTO;
	}
	*ret_kind = BODY_CHUNKED;
	return 0;
}

void body_reader_start(struct body_reader *reader, enum body_kind kind, uint64_t length)
{
	*reader = (struct body_reader){.kind = kind, .hash = HASH_EMPTY};
	reader->left = kind == BODY_LENGTH ? length : 0;
	reader->done = kind == BODY_NONE || (kind == BODY_LENGTH && !length);
}

static size_t take_content(struct body_reader *reader, const uint8_t *data, size_t len)
{
	reader->hash = hash_bytes(reader->hash, data, len);
	reader->length += len;
	return len;
}

static size_t take_counted(struct body_reader *reader, const uint8_t *data, size_t len)
{
	size_t n = take_content(reader, data, len < reader->left ? len : reader->left);

	reader->left -= n;
	return n;
}

static int hex_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static int bad_chunk(struct body_reader *reader, const char *why)
{
	reader->why = why;
	return -EPROTO;
}

static int chunk_size(struct body_reader *reader, uint8_t c)
{
	int digit = hex_digit(c);

	if (digit >= 0 && reader->digits < 15) {
		reader->left = reader->left * 16 + (uint64_t)digit;
		reader->digits++;
		return 0;
	}
	if (!reader->digits || (c != ';' && c != '\r'))
		return bad_chunk(reader, "a chunk size is not a hexadecimal number");
	reader->chunk = c == ';' ? CHUNK_EXTENSION : CHUNK_SIZE_LF;
	return 0;
}

static int chunk_expect(struct body_reader *reader, uint8_t c, uint8_t wanted,
			enum chunk_state next)
{
	if (c != wanted)
		return bad_chunk(reader, "a line of the chunked body does not end with CR LF");
	reader->chunk = next;
	return 0;
}

static int chunk_text(struct body_reader *reader, uint8_t c, enum chunk_state at_end)
{
	if (c == '\r')
		reader->chunk = at_end;
	else if (c != '\t' && (c < ' ' || c == 0x7f))
		return bad_chunk(reader, "a control character in a chunk extension or trailer");
	return 0;
}

static int chunk_trailer_name(struct body_reader *reader, uint8_t c)
{
	bool start = reader->chunk == CHUNK_TRAILER_START;

	if (start && c == '\r')
		reader->chunk = CHUNK_END_LF;
	else if (!start && c == ':')
		reader->chunk = CHUNK_TRAILER_VALUE;
	else if (is_token(c))
		reader->chunk = CHUNK_TRAILER_NAME;
	else
		return bad_chunk(reader, "a trailer does not begin with a field name and a colon");
	return 0;
}

static int chunk_size_end(struct body_reader *reader, uint8_t c)
{
	enum chunk_state next = reader->left ? CHUNK_DATA : CHUNK_TRAILER_START;

	reader->digits = 0;
	return chunk_expect(reader, c, '\n', next);
}

/* One byte of the framing around the chunks' contents. */
static int chunk_byte(struct body_reader *reader, uint8_t c)
{
	switch (reader->chunk) {
	case CHUNK_SIZE:
		return chunk_size(reader, c);
	case CHUNK_EXTENSION:
		return chunk_text(reader, c, CHUNK_SIZE_LF);
	case CHUNK_SIZE_LF:
		return chunk_size_end(reader, c);
	case CHUNK_DATA_CR:
		return chunk_expect(reader, c, '\r', CHUNK_DATA_LF);
	case CHUNK_DATA_LF:
		return chunk_expect(reader, c, '\n', CHUNK_SIZE);
	case CHUNK_TRAILER_START:
	case CHUNK_TRAILER_NAME:
		return chunk_trailer_name(reader, c);
	case CHUNK_TRAILER_VALUE:
		return chunk_text(reader, c, CHUNK_TRAILER_LF);
	case CHUNK_TRAILER_LF:
		return chunk_expect(reader, c, '\n', CHUNK_TRAILER_START);
	case CHUNK_END_LF:
		reader->done = c == '\n';
		return chunk_expect(reader, c, '\n', CHUNK_END_LF);
	case CHUNK_DATA:
		break;
	}
	return bad_chunk(reader, "the chunk reader lost its state");
}

static ssize_t read_chunked(struct body_reader *reader, const uint8_t *data, size_t len)
{
	size_t at = 0;

	while (at < len && !reader->done) {
		if (reader->chunk != CHUNK_DATA) {
			int err = chunk_byte(reader, data[at++]);

			if (err)
				return err;
			continue;
		}
		at += take_counted(reader, data + at, len - at);
		if (!reader->left)
			reader->chunk = CHUNK_DATA_CR;
	}
	return (ssize_t)at;
}

ssize_t body_read(struct body_reader *reader, const uint8_t *data, size_t len)
{
	size_t n;

	if (reader->done)
		return 0;
	if (reader->kind == BODY_CHUNKED)
		return read_chunked(reader, data, len);
	if (reader->kind == BODY_UNTIL_CLOSE)
		return (ssize_t)take_content(reader, data, len);
	n = take_counted(reader, data, len);
	reader->done = !reader->left;
	return (ssize_t)n;
}
