// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "daemon/log_limit.h"

/* What was left out in a second is told of when that is over. */
static void look_at_clock(struct log_limit *limit, __u64 now_ns)
{
	__u64 second = now_ns / NS_PER_SECOND;

	if (limit->second == second)
		return;
	limit->second = second;
	limit->told = 0;
	limit->due += limit->left_out;
	limit->left_out = 0;
}

bool log_limit_take(struct log_limit *limit, __u64 now_ns)
{
	look_at_clock(limit, now_ns);
	if (limit->told == LOG_LIMIT_LINES) {
		limit->left_out++;
		return false;
	}
	limit->told++;
	return true;
}

unsigned long log_limit_left_out(struct log_limit *limit, __u64 now_ns)
{
	unsigned long count;

	look_at_clock(limit, now_ns);
	count = limit->due;
	limit->due = 0;
	return count;
}
