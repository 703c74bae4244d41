/* SPDX-License-Identifier: Apache-2.0 */
/* What all parts of the API have in common. */
#ifndef CTXPROP_WEB_API_STORE_H
#define CTXPROP_WEB_API_STORE_H

#include <stdbool.h>
#include <jansson.h>
#include <sqlite3.h>

#include "web/request.h"
#include "web/server.h"

/* The store, to be read for some seconds at most. NULL: the reply says why there is none. */
sqlite3 *api_open(const struct web_options *options, struct reply *reply);
void api_close(sqlite3 *db);

/* Answer with a document, whose reference is taken; NULL: there was no memory. */
void api_reply(struct reply *reply, json_t *document);

/* Answer {"error": ...}. */
__attribute__((format(printf, 3, 4))) void api_refuse(struct reply *reply, unsigned int status,
						      const char *format, ...);

/* Answer that the store could not be read, or not in time. */
void api_failed(struct reply *reply, sqlite3 *db);

/*
 * The parameter `last`, a time of at most a day, as ns; `otherwise_ns` where there is none. 0, or
 * -EINVAL after it was refused.
 */
int api_last(const struct request *request, struct reply *reply, __u64 otherwise_ns, __u64 *ret_ns);

#endif
