/* SPDX-License-Identifier: Apache-2.0 */
/* The endpoints of the last minutes, from the table `endpoints` of the store. */
#ifndef CTXPROP_BUSIEST_H
#define CTXPROP_BUSIEST_H

#include <sqlite3.h>

#include "trace/histogram.h"

struct busy {
	char *service, *method, *route;
	int kind; /* enum span_kind */
	__u64 count, errors, total_ns, longest_ns;
	struct histogram durations;
};

struct busiest {
	struct busy *busy; /* in no order */
	size_t count;
	double seconds; /* the time that they are of */
};

/* Read those of the last `minutes` whole minutes and the current one. 0, -ENOMEM or -EIO. */
int busiest_read(sqlite3 *db, unsigned int minutes, struct busiest *ret_busiest);

/* The first minute that the store knows of, counted since 1970; 0: there is none. */
__s64 busiest_first_minute(sqlite3 *db);

void busiest_free(struct busiest *busiest);

/* The percentile of the durations, in ns. */
__u64 busiest_percentile(const struct busy *busy, double percent);

#endif
