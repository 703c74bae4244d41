// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "trace/query_limits.h"

#define STEPS                                                                                      \
	300 /* steps of SQLite's virtual machine between two checks of the clock: some             \
	       microseconds */

static atomic_bool gives_way;

void query_give_way(bool give_way)
{
	atomic_store(&gives_way, give_way);
}

static int is_over(void *data)
{
	const struct query_limits *limits = data;

	return atomic_load(&gives_way) || (limits->ended && atomic_load(limits->ended)) ||
	       clock_now_ns() > limits->until_ns;
}

void query_limit(sqlite3 *db, const struct query_limits *limits)
{
	sqlite3_limit(db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, QUERY_PATTERN_MAX);
	sqlite3_progress_handler(db, STEPS, is_over, (void *)limits);
}
