// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "cmd/store.h"
#include "cmd/top_cpu.h"
#include "profile/keep/windows.h"
#include "trace/query_words.h"
#include "trace/span.h"

#define MINUTE_SECONDS 60
#define KEPT_SECONDS   60 /* older windows leave the time that is asked for */
#define NAME_MAX_BYTES 1024

/* When something was last put into the folder or removed; -1: there is none. */
static __s64 changed_ns(const char *folder)
{
	struct stat status;

	if (stat(folder, &status))
		return -1;
	return status.st_mtim.tv_sec * (__s64)NS_PER_SECOND + status.st_mtim.tv_nsec;
}

static void read_anew(struct top_cpu *cpu, const char *folder, __s64 now_s)
{
	const __s64 from_s = (now_s / MINUTE_SECONDS - cpu->minutes) * MINUTE_SECONDS;
	char why[MESSAGE_WHY_MAX];
	struct windows_said said;
	struct message message;

	if (windows_read(folder, from_s, now_s + 1, &message, &said, why))
		return;
	cpu->known = !message_endpoints(&message, &cpu->endpoints);
	cpu->lasted_ns = (__u64)message.profile->duration_nanos;
	message_free(&message);
}

void top_cpu_read(struct top_cpu *cpu, unsigned int minutes)
{
	const __s64 now_s = query_now_ns() / (__s64)NS_PER_SECOND;
	char folder[PATH_MAX];
	const char *store = command_store_path();
	__s64 changed;

	if (!store || windows_folder(store, folder))
		return;
	changed = changed_ns(folder);
	if (cpu->read_s && changed == cpu->changed_ns && minutes == cpu->minutes &&
	    now_s - cpu->read_s < KEPT_SECONDS)
		return;
	top_cpu_free(cpu);
	cpu->minutes = minutes;
	cpu->read_s = now_s;
	cpu->changed_ns = changed;
	if (changed >= 0)
		read_anew(cpu, folder, now_s);
}

/* What was sampled of it; NULL: not known. */
static const struct message_endpoint *find(const struct top_cpu *cpu, const struct busy *busy)
{
	char name[NAME_MAX_BYTES] = ENDPOINT_NONE;

	if (!cpu->known || (busy && busy->kind != SPAN_SERVER))
		return NULL;
	if (busy)
		snprintf(name, sizeof(name), "%s %s", busy->method, busy->route);
	for (size_t i = 0; i < cpu->endpoints.count; i++) {
		const struct message_endpoint *endpoint = &cpu->endpoints.endpoint[i];

		if (!strcmp(endpoint->service, busy ? busy->service : "") &&
		    !strcmp(endpoint->name, name))
			return endpoint->samples ? endpoint : NULL;
	}
	return NULL;
}

__s64 top_cpu_of(const struct top_cpu *cpu, const struct busy *busy)
{
	const struct message_endpoint *endpoint = find(cpu, busy);

	return endpoint && endpoint->requests ? (__s64)(endpoint->cpu_ns / endpoint->requests) : -1;
}

double top_cpu_share(const struct top_cpu *cpu, const struct busy *busy)
{
	const struct message_endpoint *endpoint = find(cpu, busy);

	return endpoint && cpu->lasted_ns ? (double)endpoint->cpu_ns / (double)cpu->lasted_ns : -1;
}

void top_cpu_free(struct top_cpu *cpu)
{
	message_endpoints_free(&cpu->endpoints);
	*cpu = (struct top_cpu){};
}
