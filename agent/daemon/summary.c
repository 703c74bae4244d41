// SPDX-License-Identifier: Apache-2.0
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/reason_names.h"
#include "daemon/summary.h"

int summary_start(struct summary *summary, int counters_fd)
{
	summary->counters_fd = counters_fd;
	return counters_read(counters_fd, &summary->last);
}

/* Packets are too many to be news, except those that were lost. */
static bool is_news(unsigned int reason)
{
	return reason_row(reason)->group != REASON_GROUP_PACKETS || reason == REASON_DROPPED;
}

static __u64 moved(const struct summary *summary, const struct counters *now, unsigned int reason)
{
	return now->count[reason] - summary->last.count[reason];
}

long summary_log(struct summary *summary)
{
	struct counters now;
	char line[512] = "";
	size_t used = 0;
	long turned_away;
	int err = counters_read(summary->counters_fd, &now);

	if (err)
		return err;
	for (unsigned int reason = 0; reason < REASON_COUNT; reason++) {
		__u64 times = moved(summary, &now, reason);

		if (!times || !is_news(reason) || used >= sizeof(line))
			continue;
		used += (size_t)snprintf(line + used, sizeof(line) - used, "%s%s %llu",
					 used ? ", " : "", reason_row(reason)->name,
					 (unsigned long long)times);
	}
	if (used)
		log_info("%s", line);
	turned_away =
	    (long)(moved(summary, &now, REASON_TABLE_FULL) + moved(summary, &now, REASON_CROWDED) +
		   moved(summary, &now, REASON_SHARE_FULL));
	summary->last = now;
	return turned_away;
}
