/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spans that come again: a daemon that was killed had stored them, and was not done with their
 * records. Only the first ones after a start can be such, and only of the rows that were last.
 */
#ifndef CTXPROP_STORE_AGAIN_H
#define CTXPROP_STORE_AGAIN_H

#include <stdbool.h>
#include <sqlite3.h>

#include "trace/span.h"

struct store_again {
	sqlite3_stmt *find;
	unsigned int left; /* spans that may be such */
};

/* Look at the store as it is now. Returns what SQLite says. */
int store_again_open(sqlite3 *db, struct store_again *ret_again);

/* Was this span, the next one, there when the store was opened? */
bool store_again_has(struct store_again *again, const struct span *span);

void store_again_close(struct store_again *again);

#endif
