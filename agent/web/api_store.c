// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "trace/query_words.h"
#include "trace/store.h"
#include "web/api.h"
#include "web/api_store.h"
#include "web/patience.h"

#define LAST_MAX_NS (86400 * NS_PER_SECOND)

sqlite3 *api_open(const struct web_options *options, struct reply *reply)
{
	char why[128];
	sqlite3 *db;

	if (!options->store) {
		api_refuse(reply, 503, "spans are not stored (--store none)");
		return NULL;
	}
	db = store_open_to_read(options->store, why, sizeof(why));
	if (!db) {
		api_refuse(reply, 503, "the store cannot be read: %s", why);
		return NULL;
	}
	if (!patience_watch(db))
		return db;
	sqlite3_close(db);
	api_refuse(reply, 503, "the store is being read by too many");
	return NULL;
}

void api_close(sqlite3 *db)
{
	patience_forget(db);
	sqlite3_close(db);
}

void api_reply(struct reply *reply, json_t *document)
{
	char *text = document ? json_dumps(document, JSON_COMPACT) : NULL;

	json_decref(document);
	reply->type = "application/json";
	if (text)
		buffer_add(&reply->body, text, strlen(text));
	else
		reply->body.failed = true;
	free(text);
}

void api_refuse(struct reply *reply, unsigned int status, const char *format, ...)
{
	char text[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	reply->status = status;
	api_reply(reply, json_pack("{ss}", "error", text));
}

void api_failed(struct reply *reply, sqlite3 *db)
{
	if (sqlite3_errcode(db) == SQLITE_INTERRUPT)
		api_refuse(reply, 503, "that takes too long; ask for less");
	else
		api_refuse(reply, 500, "the store: %s", sqlite3_errmsg(db));
}

int api_last(const struct request *request, struct reply *reply, __u64 otherwise_ns, __u64 *ret_ns)
{
	const char *last = request_parameter(request, "last");

	*ret_ns = otherwise_ns;
	if (!last || (!query_parse_time(last, ret_ns) && *ret_ns && *ret_ns <= LAST_MAX_NS))
		return 0;
	api_refuse(reply, 400, "last: expected a time up to 24h: 30s, 5m, 2h");
	return -EINVAL;
}
