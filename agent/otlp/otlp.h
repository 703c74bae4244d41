/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sink that sends spans by OTLP/HTTP (protobuf, gzip), in a thread of its own: whoever gives it
 * spans never waits. What cannot be delivered is lost, and counted; nothing is sent twice that may
 * have arrived.
 */
#ifndef CTXPROP_OTLP_H
#define CTXPROP_OTLP_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/sink.h"

#define OTLP_QUEUE_MAX 8192 /* spans that wait, at most */
#define OTLP_BATCH_MAX 512  /* spans in one request, at most */
#define OTLP_WHY_MAX   256

#define OTLP_END_SECONDS 2 /* for spans that wait when the sink is closed */

/* Why spans were lost: X(id, name). */
#define OTLP_LOSSES_TABLE(X)                                                                       \
	X(QUEUE_FULL, "queue-full")   /* they came faster than they could be sent */               \
	X(REFUSED, "refused")         /* the receiver does not want them: HTTP status */           \
	X(REJECTED, "rejected")       /* it took the request, but not these: partial success */    \
	X(GIVEN_UP, "given-up")       /* tried for too long */                                     \
	X(UNCONFIRMED, "unconfirmed") /* sent, but no answer came: they may have arrived */        \
	X(ENDED, "ended")             /* left when the daemon ended */                             \
	X(NO_MEMORY, "no-memory")

#define OTLP_LOSS_ENUM(id, name) OTLP_LOST_##id,
enum otlp_loss { OTLP_LOSSES_TABLE(OTLP_LOSS_ENUM) OTLP_LOSSES };
#undef OTLP_LOSS_ENUM

/* Every span that was given is in `accepted`, in one of `lost`, or on its way. */
struct otlp_counts {
	unsigned long given;    /* spans that were to be sent */
	unsigned long accepted; /* by the receiver */
	unsigned long lost[OTLP_LOSSES];
	unsigned long requests; /* that were sent, retries among them */
	unsigned long retries;
};

struct otlp_options {
	const char *url;     /* of a receiver */
	bool is_base;        /* see endpoint_parse() */
	const char *headers; /* file with header fields (headers.h), or NULL */
	const char *ca;      /* file with certificates, or NULL: those of the system are trusted */
};

/*
 * Begin to send: the thread has the rights that the caller has by now. The sink's close() waits
 * OTLP_END_SECONDS and little more. Returns 0, or -errno after the reason was written to `ret_why`.
 */
int otlp_sink_open(const struct otlp_options *options, struct sink *ret_sink, char *ret_why,
		   size_t size);

/* The name of a loss, for logs and metrics. */
const char *otlp_loss_name(enum otlp_loss loss);

#endif
