// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/address.h"
#include "base/clock.h"
#include "base/hex.h"
#include "base/log.h"
#include "daemon/log_limit.h"
#include "daemon/log_sink.h"

#define NS_PER_MS     (NS_PER_SECOND / 1000)
#define PATH_SHOWN    160
#define CAUSE_TEXT    96
#define NAME_OF(name) ((name) ? (name) : "")

/* A text that others wrote, without characters that a terminal or a log would interpret. */
static void copy_plain(char *ret, size_t size, const char *text)
{
	size_t used = 0;

	for (; *text && used + 1 < size; text++)
		ret[used++] = (char)(*text > ' ' && *text <= '~' ? *text : '?');
	ret[used] = '\0';
}

/* Why a call has this header and this parent. */
static void cause_text(char ret[CAUSE_TEXT], const struct span *span)
{
	struct span_cause cause = span_cause(span);

	if (span->kind == SPAN_SERVER)
		snprintf(ret, CAUSE_TEXT, "%s",
			 span->is_root ? "a new trace" : "its caller's trace");
	else
		snprintf(ret, CAUSE_TEXT, "header: %s, cause: %s%s%s", NAME_OF(cause.header),
			 NAME_OF(cause.evidence), cause.veto ? ", " : "", NAME_OF(cause.veto));
}

static void tell(const struct span *span)
{
	char endpoint[ENDPOINT_TEXT_MAX], trace[HEX_TRACE], id[HEX_SPAN], cause[CAUSE_TEXT],
	    path[PATH_SHOWN], method[SPAN_METHOD_MAX];

	copy_plain(method, sizeof(method), span->method);
	copy_plain(path, sizeof(path), span->path);
	cause_text(cause, span);
	hex_text(trace, span->trace_id, sizeof(span->trace_id));
	hex_text(id, &span->span_id, sizeof(span->span_id));
	log_debug(
	    "request",
	    "request %s by process %u, %s %s: %s %s; %s; status %u, %llu ms; trace %s, span %s",
	    span->kind == SPAN_SERVER ? "served" : "sent", span->tgid,
	    span->kind == SPAN_SERVER ? "from" : "to",
	    address_endpoint(endpoint, span->remote, span->remote_port), method, path, cause,
	    span->status, (unsigned long long)((span->end_ns - span->start_ns) / NS_PER_MS), trace,
	    id);
}

static void log_span(void *data, const struct span *span, __s64 boot_to_wall_ns)
{
	(void)boot_to_wall_ns;
	if (log_limit_take(data, clock_now_ns()))
		tell(span);
}

static bool log_left_out(void *data, bool hurry)
{
	unsigned long count = log_limit_left_out(data, clock_now_ns());

	(void)hurry;
	if (count)
		log_debug("requests-left-out", "%lu more requests have ended", count);
	return true;
}

int log_sink_open(struct sink *ret_sink)
{
	struct log_limit *limit = calloc(1, sizeof(*limit));

	if (!limit)
		return -ENOMEM;
	*ret_sink = (struct sink){.span = log_span,
				  .flush = log_left_out,
				  .close = free,
				  .data = limit,
				  .takes_unsampled = true};
	return 0;
}
