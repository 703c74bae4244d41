/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recognises spans that come again: an earlier daemon had stored them and was killed before it
 * freed their records. Only the first spans after a start can be such, and only the last rows have
 * to be searched for them.
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

/* Note the last rows of the store as it is now. Returns SQLite's result. */
int store_again_open(sqlite3 *db, struct store_again *ret_again);

/* Was this span, which is the next one to be stored, there when the store was opened? */
bool store_again_has(struct store_again *again, const struct span *span);

void store_again_close(struct store_again *again);

#endif
