/* SPDX-License-Identifier: Apache-2.0 */
/* Traces as JSON (docs/api.md). */
#ifndef CTXPROP_TRACE_JSON_H
#define CTXPROP_TRACE_JSON_H

#include <jansson.h>

#include "trace/query.h"

/* {"trace_id": ..., "spans": [...]}; a new reference. What is not known is left out. */
json_t *trace_json(const struct query_trace *trace);

/* Set a text of any bytes; NULL is left out. */
void json_set_text(json_t *object, const char *name, const char *text);

#endif
