// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "daemon/log_limit.h"

bool log_limit_take(struct log_limit *limit, __u64 now_ns)
{
	__u64 second = now_ns / NS_PER_SECOND;

	if (limit->second != second) {
		limit->second = second;
		limit->told = 0;
	}
	if (limit->told == LOG_LIMIT_LINES) {
		limit->left_out++;
		return false;
	}
	limit->told++;
	return true;
}

unsigned long log_limit_left_out(struct log_limit *limit, __u64 now_ns)
{
	unsigned long count = limit->left_out;

	if (limit->second == now_ns / NS_PER_SECOND)
		return 0;
	limit->left_out = 0;
	return count;
}
