/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What client and server tell each other in header fields: the client asks for an answer of a
 * certain shape (X-Ask), the server reports what it received (X-Chaos).
 */
#ifndef CHAOS_TALK_H
#define CHAOS_TALK_H

#include "body.h"

#define TALK_VALUE_MAX 96

/* The answer that the client wants. */
struct ask {
	uint64_t id;
	unsigned int status;
	enum body_kind kind;
	uint64_t size;
	unsigned int early;
};

/* What the server received; `head_hash` leaves the traceparent lines out, `line_hash` is theirs. */
struct report {
	uint64_t id;
	uint64_t head_hash, body_hash, body_length;
	unsigned int count;
	uint64_t line_hash;
	char value[TALK_VALUE_MAX];
};

/*
 * A stream that is not HTTP begins with one of these; then, as after an accepted upgrade,
 * eight bytes of length (big endian), as many bytes, and a line of the server's.
 */
#define TALK_PREFACE_LEN  24
#define TALK_PREFACES     3
#define TALK_TUNNEL_REPLY 34
extern const char talk_prefaces[TALK_PREFACES][TALK_PREFACE_LEN + 1];

/* Append "X-Ask: ..." with its line end. */
void ask_write(const struct ask *ask, struct buffer *to);

/* Read the value of X-Ask. 0 or -EINVAL. */
int ask_read(const struct field *field, struct ask *ret_ask);

/* Append "X-Chaos: ..." with its line end. */
void report_write(const struct report *report, struct buffer *to);

/* Read the value of X-Chaos. 0 or -EINVAL. */
int report_read(const struct field *field, struct report *ret_report);

/* Append the server's line at the end of a tunnel. */
void tunnel_reply_write(uint64_t length, uint64_t hash, struct buffer *to);

/* Read that line (TALK_TUNNEL_REPLY bytes). 0 or -EINVAL. */
int tunnel_reply_read(const uint8_t *line, uint64_t *ret_length, uint64_t *ret_hash);

/* Seed of the body of the answer to request `id`. */
uint64_t talk_answer_seed(uint64_t id);

#endif
