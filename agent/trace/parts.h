/* SPDX-License-Identifier: Apache-2.0 */
/* Request heads that come in several packets: keeps the pieces until the last one has come. */
#ifndef CTXPROP_PARTS_H
#define CTXPROP_PARTS_H

#include "records.h"

/* The most heads that are kept at once; the oldest one makes room for a new one. */
#define PARTS_MAX 256

struct parts;

struct parts *parts_new(void);
void parts_free(struct parts *parts);

/* Keep a piece (RECORD_SERVED_PART or RECORD_CALLED_PART). */
void parts_add(struct parts *parts, const struct record_begin *piece);

/*
 * The whole head of a request whose record has the last piece: as much of it as fits into
 * RECORD_HEAD_MAX bytes at `ret_head`. Returns how many that are, 0 when the first pieces are not
 * known. The pieces are forgotten.
 */
size_t parts_take(struct parts *parts, const struct record_begin *last,
		  __u8 ret_head[RECORD_HEAD_MAX]);

#endif
