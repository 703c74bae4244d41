// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "logs/past.h"

#define PROCESSES 1024 /* lists, a power of two */

struct served {
	__u32 pid, tid;
	__s64 begin_ns, end_ns;
	struct traces_ctx ids;
};

/* By their begins; what is certain of them. */
struct list {
	struct served *served;
	size_t count;
	__s64 longest_ns;
};

struct past {
	sqlite3 *db;
	__s64 row; /* the newest one that was read */
	struct list list[PROCESSES];
};

/* Calls end before the request that they are made for, so they are stored before it, or never. */
static const char sql[] =
    "SELECT id, pid, tid, coalesce((SELECT min(start_ns) FROM spans AS call WHERE"
    "  call.trace_id = spans.trace_id AND call.kind = 3 AND call.parent_id = spans.span_id AND"
    "  call.pid = spans.pid AND call.tid = spans.tid AND call.evidence = 'by-thread'),"
    " start_ns + first_byte_ns), start_ns + duration_ns, trace_id, span_id FROM spans"
    " WHERE kind = 2 AND pid IS NOT NULL AND first_byte_ns IS NOT NULL AND id > ? ORDER BY id";

struct past *past_new(sqlite3 *db)
{
	struct past *past = calloc(1, sizeof(*past));

	if (past)
		past->db = db;
	return past;
}

void past_free(struct past *past)
{
	for (size_t i = 0; past && i < PROCESSES; i++)
		free(past->list[i].served);
	free(past);
}

static int add(struct list *list, const struct served *served)
{
	struct served *place = list_add(&list->served, &list->count, sizeof(*place));

	if (!place)
		return -ENOMEM;
	/* Rows are in the order of their ends: most begins are, too. */
	for (; place > list->served && place[-1].begin_ns > served->begin_ns; place--)
		*place = place[-1];
	*place = *served;
	if (served->end_ns - served->begin_ns > list->longest_ns)
		list->longest_ns = served->end_ns - served->begin_ns;
	return 0;
}

static int read_row(struct past *past, sqlite3_stmt *row)
{
	struct served served = {.pid = (__u32)sqlite3_column_int64(row, 1),
				.tid = (__u32)sqlite3_column_int64(row, 2),
				.begin_ns = sqlite3_column_int64(row, 3)};

	served.end_ns = sqlite3_column_int64(row, 4);
	past->row = sqlite3_column_int64(row, 0);
	if (sqlite3_column_bytes(row, 5) != sizeof(served.ids.trace_id) ||
	    sqlite3_column_bytes(row, 6) != sizeof(served.ids.span_id))
		return 0;
	memcpy(served.ids.trace_id, sqlite3_column_blob(row, 5), sizeof(served.ids.trace_id));
	memcpy(served.ids.span_id, sqlite3_column_blob(row, 6), sizeof(served.ids.span_id));
	return add(&past->list[served.pid % PROCESSES], &served);
}

/* What was stored since the last time. */
static int read_news(struct past *past)
{
	sqlite3_stmt *statement = NULL;
	int err = 0;

	if (sqlite3_prepare_v2(past->db, sql, -1, &statement, NULL) != SQLITE_OK)
		return -EIO;
	sqlite3_bind_int64(statement, 1, past->row);
	while (!err && sqlite3_step(statement) == SQLITE_ROW)
		err = read_row(past, statement);
	return sqlite3_finalize(statement) == SQLITE_OK ? err : -EIO;
}

static bool begins_until(const void *entry, const void *key)
{
	return ((const struct served *)entry)->begin_ns <= *(const __s64 *)key;
}

/* The first one that begins after a time. */
static size_t first_after(const struct list *list, __s64 wall_ns)
{
	return list_count_while(list->served, list->count, sizeof(*list->served), begins_until,
				&wall_ns);
}

int past_find(struct past *past, __u32 pid, __u32 tid, __s64 wall_ns, struct traces_ctx *ret_ids)
{
	__s64 from_ns = wall_ns - PAST_SLACK_NS, to_ns = wall_ns + PAST_SLACK_NS;
	const struct list *list = &past->list[pid % PROCESSES];
	const struct served *found = NULL;
	int err = read_news(past);

	if (err)
		return err;
	for (size_t i = first_after(list, to_ns); i--;) {
		const struct served *served = &list->served[i];

		if (served->begin_ns < from_ns - list->longest_ns)
			break;
		if (served->pid != pid || (tid && served->tid != tid) || served->end_ns < from_ns)
			continue;
		if (found)
			return -ENOTUNIQ;
		found = served;
	}
	if (!found || found->begin_ns > from_ns || found->end_ns < to_ns)
		return -ENOENT;
	*ret_ids = found->ids;
	return 0;
}
