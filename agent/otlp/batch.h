/* SPDX-License-Identifier: Apache-2.0 */
/* Spans that leave together, as one ExportTraceServiceRequest of OTLP. */
#ifndef CTXPROP_OTLP_BATCH_H
#define CTXPROP_OTLP_BATCH_H

#include <stddef.h>
#include <linux/types.h>

#include "otlp/queue.h"

struct batch;

/* For `max` spans at a time; `host` is the name of this host. NULL: no memory. */
struct batch *batch_new(size_t max, const char *host);
void batch_free(struct batch *batch);

/* Where the spans are put: room for `max` of them. */
struct queue_item *batch_items(struct batch *batch);

/*
 * The message of the first `count` items, spans of one service and container together: their
 * resource. Texts of the items are made UTF-8. The bytes are the caller's. Returns 0 or -ENOMEM.
 */
int batch_pack(struct batch *batch, size_t count, __u8 **ret_bytes, size_t *ret_size);

#endif
