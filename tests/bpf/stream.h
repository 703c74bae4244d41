/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model: every byte that the app wrote, the places where a header is to be inserted, and so
 * every byte that belongs on the wire. Nothing is ever forgotten or moved. The ids of a header
 * are random; they are learned from its first transmission, and then must stay as they are.
 */
#ifndef CTXPROP_TEST_STREAM_H
#define CTXPROP_TEST_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STREAM_MAX       70000
#define STREAM_EDITS_MAX 192
#define LINE_LEN         70  /* of a traceparent */
#define STATE_LEN_MAX    526 /* of a tracestate */

struct stream_edit {
	size_t at;     /* app offset of the byte it stands before, or behind */
	bool is_field; /* of HTTP/2: it stands behind, and leaves with that byte */
	size_t len;
	bool known; /* its text has been seen */
	char text[LINE_LEN + STATE_LEN_MAX];
};

struct stream {
	uint32_t first; /* number of the first byte, app and wire */
	size_t len;
	size_t state_len; /* of the tracestate lines of the headers that are expected from now on */
	size_t edits;
	uint8_t byte[STREAM_MAX];
	uint8_t changes[STREAM_MAX]; /* enum stream_change */
	uint8_t changed[STREAM_MAX]; /* what a byte is on the wire, if that is known */
	struct stream_edit edit[STREAM_EDITS_MAX];
};

/* Is a byte another one on the wire? */
enum stream_change { STREAM_SAME, STREAM_OPEN, STREAM_KNOWN };

/* The app writes `len` bytes. Returns the offset of the first. */
size_t stream_write(struct stream *s, const void *bytes, size_t len);

/*
 * The app writes a text. A '^' in it is not written: it marks a place where a header is
 * expected. Returns the offset of the first byte.
 */
size_t stream_write_marked(struct stream *s, const char *text);

/*
 * Bytes [from, to) may be others on the wire: what they are is learned from their first
 * transmission, and then must stay.
 */
void stream_open(struct stream *s, size_t from, size_t to);

/* App byte `a` on the wire, as far as that is known. */
uint8_t stream_changed(const struct stream *s, size_t a);

/* A header is expected before app byte `at`, behind all others. */
void stream_expect_edit(struct stream *s, size_t at);

/* A field of HTTP/2 is expected behind app byte `at`, behind all others. */
void stream_expect_field(struct stream *s, size_t at);

/*
 * Find the headers in `sent`, the wire bytes of the `len` app bytes at `from`, and expect them
 * from now on where they stand. The app's own bytes must not contain "traceparent: 00-".
 */
void stream_discover(struct stream *s, size_t from, size_t len, const uint8_t *sent,
		     size_t sent_len);

/* Wire offset of the wide byte of app byte `a`. */
size_t stream_to_wire(const struct stream *s, size_t a);

/* Largest app offset whose wide byte begins at or before wire offset `w`. */
size_t stream_to_app(const struct stream *s, size_t w);

/* Smallest app offset whose wide byte begins at or after wire offset `w`. */
size_t stream_to_app_up(const struct stream *s, size_t w);

/* Bytes of all headers. */
size_t stream_inserted(const struct stream *s);

/*
 * By how many bytes more what follows wire offset `w` is moved than what an app takes for
 * acknowledged there. (Of a byte with a field behind it, that is not all of the field that is left:
 * the byte is not acknowledged until the field is.)
 */
size_t stream_inserted_from(const struct stream *s, size_t w);

/*
 * The wire bytes of app bytes [from, to). Headers not yet known are learned from `sent`, which
 * holds `sent_len` bytes that were seen in their stead; one that is not well-formed fails
 * the test. Returns their number.
 */
size_t stream_wire_bytes(struct stream *s, size_t from, size_t to, const uint8_t *sent,
			 size_t sent_len, uint8_t *ret_bytes);

#endif
