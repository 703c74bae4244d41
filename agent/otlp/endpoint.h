/* SPDX-License-Identifier: Apache-2.0 */
/* Where spans are sent to, as users say it. */
#ifndef CTXPROP_OTLP_ENDPOINT_H
#define CTXPROP_OTLP_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>

struct endpoint {
	char *url;   /* to POST to */
	char *shown; /* the same without user and password, for people to see */
};

/*
 * `url` is that of a receiver, http or https. Without a path it gets that of OTLP for traces,
 * /v1/traces. `is_base`: the path is added to the one that is there, too, as the specification
 * wants it of OTEL_EXPORTER_OTLP_ENDPOINT. Returns 0, -EINVAL for what is no such URL, or -ENOMEM.
 */
int endpoint_parse(const char *url, bool is_base, struct endpoint *ret_endpoint);

/*
 * The same for log records, /v1/logs: beside the path for traces where `url` ends with that.
 * -ENOENT for a path of its own, which says nothing of logs.
 */
int endpoint_parse_logs(const char *url, bool is_base, struct endpoint *ret_endpoint);
void endpoint_free(struct endpoint *endpoint);

#endif
