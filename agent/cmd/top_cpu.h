/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU time of endpoints, by the windows of a continuous profile. */
#ifndef CTXPROP_CMD_TOP_CPU_H
#define CTXPROP_CMD_TOP_CPU_H

#include <stdbool.h>

#include "profile/message/endpoints.h"
#include "trace/busiest.h"

/* All zero: nothing was read yet. What is read is kept until there is something new. */
struct top_cpu {
	struct message_endpoints endpoints;
	bool known;           /* there are windows of that time */
	__u64 lasted_ns;      /* so long, together */
	unsigned int minutes; /* of which they were read */
	__s64 read_s;         /* when (s since 1970), and how new the folder was then */
	__s64 changed_ns;
};

/* Read what was sampled in the last `minutes` whole minutes and the current one. */
void top_cpu_read(struct top_cpu *cpu, unsigned int minutes);

/* ns of each request; -1: not known, for it is no request that is served, or has no samples. */
__s64 top_cpu_of(const struct top_cpu *cpu, const struct busy *busy);

/*
 * How many CPUs its requests kept busy in the mean (1: one CPU all the time); -1: not known. `busy`
 * NULL: what belongs to no request.
 */
double top_cpu_share(const struct top_cpu *cpu, const struct busy *busy);

void top_cpu_free(struct top_cpu *cpu);

#endif
