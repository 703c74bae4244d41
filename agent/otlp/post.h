/* SPDX-License-Identifier: Apache-2.0 */
/* One request of OTLP/HTTP after the other (opentelemetry.io/docs/specs/otlp, OTLP/HTTP). */
#ifndef CTXPROP_OTLP_POST_H
#define CTXPROP_OTLP_POST_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#define POST_WHY_MAX    192
#define POST_TIMEOUT_MS 10000 /* of a request and its answer */

struct post_options {
	const char *url;
	const char *headers; /* file (headers.h), or NULL */
	const char *ca;      /* file with certificates to trust, or NULL: those of the system */
};

/* What became of a request. */
enum post_result {
	POST_ACCEPTED,
	POST_REFUSED,    /* the receiver does not want it, now or ever */
	POST_LATER,      /* it was not taken, but may be if it is sent again */
	POST_UNCONFIRMED /* sent, but no whole answer came: sent again, it might be there twice */
};

struct post_answer {
	enum post_result result;
	__u32 retry_after_ms;   /* POST_LATER: the receiver wants us to wait; or RETRY_NEVER */
	size_t rejected;        /* POST_ACCEPTED: spans that it has left out */
	char why[POST_WHY_MAX]; /* in words, if not all is well; printable */
};

struct post;

/* Returns 0, or -errno after the reason was written to `ret_why`. */
int post_new(const struct post_options *options, struct post **ret_post, char *ret_why,
	     size_t size);
void post_free(struct post *post);

/* Send a body, gzip of protobuf, and wait for the answer, for POST_TIMEOUT_MS at most. */
void post_send(struct post *post, const __u8 *body, size_t size, struct post_answer *ret_answer);

/*
 * From another thread: no request goes on after that time (CLOCK_MONOTONIC). What was not taken by
 * then is POST_LATER.
 */
void post_end_by(struct post *post, __u64 deadline_ns);

/* Has that time come? */
bool post_is_over(struct post *post);

#endif
