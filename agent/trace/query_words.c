// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/number.h"
#include "trace/query_words.h"

int query_parse_time(const char *text, __u64 *ret_ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"", 1e9},   {"us", 1e3},   {"ms", 1e6},   {"s", 1e9},
		     {"m", 60e9}, {"h", 3600e9}, {"d", 86400e9}};
	char *end;
	double number = strtod(text, &end);

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].name) != 0 || end == text || !(number >= 0) ||
		    number * units[i].ns > 1e18)
			continue;
		*ret_ns = (__u64)(number * units[i].ns);
		return 0;
	}
	return -EINVAL;
}

int query_parse_status(const char *text, struct query_filter *ret_filter)
{
	unsigned long status;

	if (strlen(text) == 3 && *text >= '1' && *text <= '5' && !strcmp(text + 1, "xx")) {
		ret_filter->status_from = (unsigned int)(*text - '0') * 100;
		ret_filter->status_to = ret_filter->status_from + 99;
		return 0;
	}
	if (number_parse(text, 100, 599, &status))
		return -EINVAL;
	ret_filter->status_from = ret_filter->status_to = (unsigned int)status;
	return 0;
}

__s64 query_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * (__s64)NS_PER_SECOND + now.tv_nsec;
}
