// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "trace/service.h"

/* Processes that are cached, a power of two; others are only read again. */
#define SERVICES   1024
#define TRUSTED_NS (10 * NS_PER_SECOND) /* after that its number may belong to another process */

struct known {
	__u32 tgid; /* 0: nothing is known */
	__u64 looked_ns;
	struct service service;
};

struct services {
	pthread_mutex_t mutex; /* of the rules */
	struct service_rules *rules;
	struct proc_reader *reader;
	__u64 ruled_ns; /* what was looked at before that is looked at again */
	struct service nothing;
	struct known known[SERVICES];
};

struct services *services_new(void)
{
	struct services *services = calloc(1, sizeof(*services));

	if (!services)
		return NULL;
	services->reader = proc_reader_new();
	if (!services->reader) {
		free(services);
		return NULL;
	}
	pthread_mutex_init(&services->mutex, NULL);
	return services;
}

void services_free(struct services *services)
{
	if (!services)
		return;
	service_rules_free(services->rules);
	proc_reader_free(services->reader);
	pthread_mutex_destroy(&services->mutex);
	free(services);
}

void services_set_rules(struct services *services, struct service_rules *rules)
{
	struct service_rules *before;

	pthread_mutex_lock(&services->mutex);
	before = services->rules;
	services->rules = rules;
	services->ruled_ns = clock_now_ns();
	pthread_mutex_unlock(&services->mutex);
	service_rules_free(before);
}

/* Keep what is known when the process is gone: its last requests are reported after its end. */
static void look(struct services *services, struct known *known, __u32 tgid,
		 const struct record_process *seen, __u64 now_ns)
{
	struct service service;
	const bool is_gone = service_look(tgid, services->reader, seen, services->rules, &service);

	if (known->tgid != tgid || !is_gone || !known->service.name[0])
		known->service = service;
	known->tgid = tgid;
	known->looked_ns = now_ns;
}

const struct service *services_find(struct services *services, __u32 tgid,
				    const struct record_process *seen)
{
	struct known *known = &services->known[tgid % SERVICES];
	__u64 now_ns = clock_now_ns();

	if (!tgid)
		return &services->nothing;
	pthread_mutex_lock(&services->mutex);
	if (known->tgid != tgid || now_ns - known->looked_ns > TRUSTED_NS ||
	    known->looked_ns < services->ruled_ns)
		look(services, known, tgid, seen, now_ns);
	pthread_mutex_unlock(&services->mutex);
	return &known->service;
}
