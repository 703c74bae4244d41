/* SPDX-License-Identifier: Apache-2.0 */
/* What can be asked for by HTTP, by its path. */
#ifndef CTXPROP_WEB_PAGES_H
#define CTXPROP_WEB_PAGES_H

#include "web/request.h"
#include "web/server.h"

/* Answer a GET of this path. */
void pages_answer(const struct web_options *options, const char *path, struct request *request,
		  struct reply *reply);

#endif
