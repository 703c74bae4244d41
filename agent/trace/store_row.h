/* SPDX-License-Identifier: Apache-2.0 */
/* A span as a row of the table `spans` (docs/schema.md). */
#ifndef CTXPROP_STORE_ROW_H
#define CTXPROP_STORE_ROW_H

#include <sqlite3.h>

#include "trace/bind.h"
#include "trace/span.h"

/* The statement that adds a row, unless a span of its ids is there. */
extern const char store_row_insert[];

/*
 * Fill the statement with a span, whose service has the row `service`. What is bound points into
 * `span` and `texts`, which have to stay until the statement was run.
 */
void store_row_bind(sqlite3_stmt *insert, const struct span *span, struct end_texts *texts,
		    sqlite3_int64 service, __s64 boot_to_wall_ns);

#endif
