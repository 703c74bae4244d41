/* SPDX-License-Identifier: Apache-2.0 */
/* What can be asked for by HTTP, by its path. */
#ifndef CTXPROP_WEB_PAGES_H
#define CTXPROP_WEB_PAGES_H

#include "web/request.h"
#include "web/server.h"

/* How long an answer takes. */
enum page_time {
	PAGE_AT_ONCE, /* no time */
	PAGE_SOON,    /* some milliseconds */
	PAGE_LATER,   /* the store or a profile is read, for seconds perhaps */
};

/* That of a GET of this path. */
enum page_time pages_time(const struct web_options *options, const char *path);

/* Answer it. */
void pages_answer(const struct web_options *options, const char *path, struct request *request,
		  struct reply *reply);

#endif
