// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "base/clock.h"
#include "trace/service.h"

/* Processes that are remembered, a power of two; more of them only cost another look. */
#define SERVICES   1024
#define TRUSTED_NS (10 * NS_PER_SECOND) /* after that its number may be another one's */

struct known {
	__u32 tgid; /* 0: nothing is known */
	__u64 looked_ns;
	struct service service;
};

struct services {
	struct service nothing;
	struct known known[SERVICES];
};

struct services *services_new(void)
{
	return calloc(1, sizeof(struct services));
}

void services_free(struct services *services)
{
	free(services);
}

/* What was known stays when the process is gone: its last requests are told of after its end. */
static void look(struct known *known, __u32 tgid, __u64 now_ns)
{
	struct service service;

	service_look(tgid, &service);
	if (known->tgid != tgid || service.name[0])
		known->service = service;
	known->tgid = tgid;
	known->looked_ns = now_ns;
}

const struct service *services_find(struct services *services, __u32 tgid)
{
	struct known *known = &services->known[tgid % SERVICES];
	__u64 now_ns = clock_now_ns();

	if (!tgid)
		return &services->nothing;
	if (known->tgid != tgid || now_ns - known->looked_ns > TRUSTED_NS)
		look(known, tgid, now_ns);
	return &known->service;
}
