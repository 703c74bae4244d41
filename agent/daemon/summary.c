// SPDX-License-Identifier: Apache-2.0
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/reason_names.h"
#include "daemon/summary.h"

#define PERIOD_NS      (60 * NS_PER_SECOND)
#define LINE_MAX_BYTES 960

int summary_start(struct summary *summary, int counters_fd, __u64 now_ns)
{
	int err = counters_read(counters_fd, &summary->seen);

	summary->counters_fd = counters_fd;
	summary->told = summary->seen;
	summary->told_ns = now_ns;
	return err;
}

/* Counts of packets are left out, except dropped ones. */
static bool is_news(unsigned int reason)
{
	return reason_row(reason)->group != REASON_GROUP_PACKETS || reason == REASON_DROPPED;
}

size_t summary_text(char *line, size_t size, const struct counters *before,
		    const struct counters *now)
{
	size_t used = 0;

	line[0] = '\0';
	for (unsigned int reason = 0; reason < REASON_COUNT && used < size; reason++) {
		unsigned long long all = now->count[reason], new = all - before->count[reason];

		if (new &&is_news(reason))
			used +=
			    (size_t)snprintf(line + used, size - used, "%s%s %llu (%llu)",
					     used ? ", " : "", reason_row(reason)->name, new, all);
	}
	return used;
}

bool summary_is_due(const struct summary *summary, __u64 now_ns)
{
	return now_ns - summary->told_ns >= PERIOD_NS;
}

static void tell(struct summary *summary, const struct counters *now, __u64 now_ns)
{
	unsigned long long seconds = (now_ns - summary->told_ns) / NS_PER_SECOND;
	char line[LINE_MAX_BYTES];

	if (summary_text(line, sizeof(line), &summary->told, now))
		log_info("summary", "in %llu s (in total): %s", seconds, line);
	summary->told = *now;
	summary->told_ns = now_ns;
}

static long moved(const struct summary *summary, const struct counters *now, unsigned int reason)
{
	return (long)(now->count[reason] - summary->seen.count[reason]);
}

long summary_look(struct summary *summary, __u64 now_ns)
{
	struct counters now;
	long turned_away;
	int err = counters_read(summary->counters_fd, &now);

	if (err)
		return err;
	turned_away = moved(summary, &now, REASON_TABLE_FULL) +
		      moved(summary, &now, REASON_CROWDED) +
		      moved(summary, &now, REASON_SHARE_FULL);
	summary->seen = now;
	if (summary_is_due(summary, now_ns))
		tell(summary, &now, now_ns);
	return turned_away;
}
