/* SPDX-License-Identifier: Apache-2.0 */
/* A span that waits, in as much memory as its texts need: a third of struct span, most often. */
#ifndef CTXPROP_OTLP_PACKED_H
#define CTXPROP_OTLP_PACKED_H

#include "trace/span.h"

struct packed;

/* A copy of a span; to be freed by free(). NULL: no memory. */
struct packed *packed_new(const struct span *span, __s64 boot_to_wall_ns);

/* The span as it was. */
void packed_read(const struct packed *packed, struct span *ret_span, __s64 *ret_boot_to_wall_ns);

#endif
