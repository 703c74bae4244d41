/* SPDX-License-Identifier: Apache-2.0 */
/* The endpoints of the last minutes, out of the table `endpoints` of the store. */
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

/* Those of so many whole minutes, and of the running one. 0, -ENOMEM or -EIO. */
int busiest_read(sqlite3 *db, unsigned int minutes, struct busiest *ret_busiest);

/* The first minute that the store knows of, counted since 1970; 0: there is none. */
__s64 busiest_first_minute(sqlite3 *db);

void busiest_free(struct busiest *busiest);

/* So many in a hundred took no longer than this, in ns. */
__u64 busiest_percentile(const struct busy *busy, double percent);

#endif
