// SPDX-License-Identifier: Apache-2.0
#include "trace/query.h"
#include "trace/schema.h"
#include "trace/store_again.h"

/* More spans than a ring can hold: each needs at least the record of its end. */
#define SPANS_MAX (RECORDS_SIZE / sizeof(struct record_end))
_Static_assert(SPANS_MAX < 1 << SCHEMA_RUN_BITS, "they are in the last two runs of rows");

static const char find_sql[] = "SELECT 1 FROM spans WHERE id >> " SCHEMA_RUN_BITS_TEXT
			       " IN (?1, ?1 - 1) AND trace_id = ?2 AND span_id = ?3";

int store_again_open(sqlite3 *db, struct store_again *ret_again)
{
	const __s64 last = query_number(db, "SELECT max(id) FROM spans");
	int result =
	    sqlite3_prepare_v3(db, find_sql, -1, SQLITE_PREPARE_PERSISTENT, &ret_again->find, NULL);

	if (result != SQLITE_OK)
		return result;
	ret_again->left = last > 0 ? SPANS_MAX : 0;
	return sqlite3_bind_int64(ret_again->find, 1, last >> SCHEMA_RUN_BITS);
}

bool store_again_has(struct store_again *again, const struct span *span)
{
	bool has;

	if (!again->left)
		return false;
	again->left--;
	sqlite3_bind_blob(again->find, 2, span->trace_id, sizeof(span->trace_id), SQLITE_STATIC);
	sqlite3_bind_blob(again->find, 3, &span->span_id, sizeof(span->span_id), SQLITE_STATIC);
	has = sqlite3_step(again->find) == SQLITE_ROW;
	sqlite3_reset(again->find);
	return has;
}

void store_again_close(struct store_again *again)
{
	sqlite3_finalize(again->find);
	*again = (struct store_again){};
}
