/* SPDX-License-Identifier: Apache-2.0 */
/* Spans without the room that their texts do not need: a tenth of the memory, mostly. */
#ifndef CTXPROP_SPAN_PACK_H
#define CTXPROP_SPAN_PACK_H

#include "trace/span.h"

/* Bytes that span_pack() writes. */
size_t span_packed_size(const struct span *span);

/* `to` has room for span_packed_size() bytes. */
void span_pack(const struct span *span, void *to);

/* `packed` was written by span_pack(). */
void span_unpack(const void *packed, struct span *ret_span);

#endif
