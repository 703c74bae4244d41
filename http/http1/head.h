/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP/1 messages of one direction of a connection, read by llhttp: each head with its method,
 * target, status and fields, and where it and its message end.
 */
#ifndef CTXPROP_HEAD_H
#define CTXPROP_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes and fields of one head that are kept; a larger head is `truncated`. */
#define HEAD_TEXT_MAX   65536
#define HEAD_FIELDS_MAX 256

enum head_kind { HEAD_REQUEST, HEAD_RESPONSE };

struct head_field {
	const char *name;  /* as it was written */
	const char *value; /* without the blanks around it */
};

/* One head. Everything it points to is the reader's, until the callback returns. */
struct head {
	enum head_kind kind;
	const char *method;              /* of a request; else NULL */
	const char *target;              /* of a request; else NULL */
	unsigned status;                 /* of a response; else 0 */
	unsigned minor;                  /* HTTP/1.minor */
	const struct head_field *fields; /* in order */
	size_t count;
	bool truncated; /* something is missing */
};

/* Called in order, with the number of stream bytes before the place. */
struct head_handler {
	void (*head)(void *data, const struct head *head, uint64_t at);
	void (*end)(void *data, uint64_t at); /* the message is over */
	void *data;
};

struct head_reader;

/* Begin a stream. Returns 0 or -ENOMEM; `ret_reader` is untouched on failure. */
int head_reader_new(enum head_kind kind, const struct head_handler *handler,
		    struct head_reader **ret_reader);

/* Free a reader, if there is one. */
void head_reader_free(struct head_reader *reader);

/*
 * The next bytes of the stream, cut anywhere. Returns 0, -EPROTO when they are no HTTP/1, or
 * -EOPNOTSUPP when another protocol begins: after CONNECT, 101 or an HTTP/2 preface. After an
 * error nothing more is read, and the same error comes again.
 */
int head_reader_feed(struct head_reader *reader, const void *bytes, size_t len);

/* Begin another stream of the same kind, with the memory of this one. */
void head_reader_reset(struct head_reader *reader);

/*
 * What has been read so far of a head that is not complete: the fields that are, and as much of the
 * target as there is. Holds until the reader is used again.
 */
void head_reader_partial(struct head_reader *reader, struct head *ret_head);

/* The next response answers a HEAD request: it has no body, whatever its fields say. */
void head_reader_expect_no_body(struct head_reader *reader);

/* Bytes of the stream before the place where reading stopped, or before the next byte. */
uint64_t head_reader_offset(const struct head_reader *reader);

/* What was wrong, after head_reader_feed() failed. A static text. */
const char *head_reader_error(const struct head_reader *reader);

/*
 * How many bytes are the method of a request that begins so: a token (RFC 9110, 5.6.2) with a blank
 * behind it. 0: it is none, or not whole.
 */
size_t head_method(const void *bytes, size_t len);

/* The value of the first field of that name, in any case; NULL: there is none. */
const char *head_field(const struct head *head, const char *name);

#endif
