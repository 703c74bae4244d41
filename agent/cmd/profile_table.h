/* SPDX-License-Identifier: Apache-2.0 */
/* Endpoints of a profile in a table, or as JSON. */
#ifndef CTXPROP_CMD_PROFILE_TABLE_H
#define CTXPROP_CMD_PROFILE_TABLE_H

#include <stdbool.h>
#include <jansson.h>
#include <linux/types.h>

#include "profile/sample.h"

#define PROFILE_TABLE_ROWS 20
#define PROFILE_NO_SHARE   (-1.0)

/* An endpoint; what is 0 or NULL is not known. */
struct profile_line {
	const char *service, *name;
	__u64 samples, cpu_ns;
	__u64 waited_ns[PROFILE_WAITS];
	__u64 requests;
	__s64 p50_ns, p99_ns; /* of how long they took */
	double share;         /* of what is shown, 0 to 1; PROFILE_NO_SHARE: it is not among that */
	const char *hottest;  /* function */
	double hottest_share; /* of its time on the CPU, 0 to 1 */
};

/* `waits`: with what threads have waited for. */
void profile_table_head(bool waits);
void profile_table_line(const struct profile_line *line, bool waits);

/* Without its share and its function. */
json_t *profile_table_json(const struct profile_line *line, bool waits);

#endif
