/* SPDX-License-Identifier: Apache-2.0 */
/* What was asked for by HTTP, and what is answered. */
#ifndef CTXPROP_WEB_REQUEST_H
#define CTXPROP_WEB_REQUEST_H

#include "base/buffer.h"

struct MHD_Connection;

struct request {
	struct MHD_Connection *connection;
	const char *rest; /* of the path, behind the name of what was asked for */
};

struct reply {
	unsigned int status;
	const char *type;    /* Content-Type */
	struct buffer body;  /* owned by the reply */
	const char *lasting; /* a body that is not copied, instead of that one; NULL: none */
	size_t lasting_size;
	const char *policy; /* Content-Security-Policy of what the page frames; NULL: the usual */
	unsigned int retry_seconds; /* when it is worth to ask again; 0: that is not known */
};

/* A field of the head, or a parameter of the query ("" if it has no value); NULL: there is none. */
const char *request_field(const struct request *request, const char *name);
const char *request_parameter(const struct request *request, const char *name);

/* An answer in words. */
__attribute__((format(printf, 3, 4))) void reply_text(struct reply *reply, unsigned int status,
						      const char *format, ...);

/* Hand the reply over to the connection; its body is freed. Returns 0 or -ENOMEM. */
int reply_send(struct reply *reply, struct MHD_Connection *connection);

#endif
