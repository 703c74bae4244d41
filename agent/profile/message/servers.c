// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "engine/model.h"
#include "profile/message/servers.h"

#define REASONS_TOLD 3
#define UNKNOWN      (SERVERS_REASONS - 1)

#define VETO_NAME(id, name, text) [VETO_##id] = (name),
static const char *const names[] = {CTXPROP_VETO(VETO_NAME)};
_Static_assert(sizeof(names) / sizeof(names[0]) == VETO_COUNT, "every veto has a name");
_Static_assert(VETO_COUNT <= UNKNOWN, "every veto has a number");

const char *servers_reason(size_t reason)
{
	if (reason == VETO_NONE)
		return "none-open";
	return reason < VETO_COUNT ? names[reason] : "other";
}

size_t servers_reason_named(const char *name)
{
	size_t reason = 0;

	while (reason < VETO_COUNT && strcmp(servers_reason(reason), name) != 0)
		reason++;
	return reason < VETO_COUNT ? reason : UNKNOWN;
}

int servers_why(const struct profile_sample *sample)
{
	static const __u8 none[sizeof(sample->span_id)];

	if (!sample->serves || memcmp(sample->span_id, none, sizeof(none)) != 0)
		return -1;
	return sample->veto < VETO_COUNT ? sample->veto : UNKNOWN;
}

void servers_count(struct servers *servers, const struct profile_sample *sample)
{
	const int why = servers_why(sample);

	servers->samples += sample->serves;
	if (why >= 0)
		servers->without[why]++;
}

__u64 servers_without(const struct servers *servers)
{
	__u64 sum = 0;

	for (size_t i = 0; i < SERVERS_REASONS; i++)
		sum += servers->without[i];
	return sum;
}

static double percent(__u64 part, const struct servers *servers)
{
	return 100 * (double)part / (double)servers->samples;
}

/* The reason that is told most often of those that are left, which is taken; -1: there is none. */
static int take_most(struct servers *left)
{
	int most = 0;

	for (int i = 1; i < SERVERS_REASONS; i++)
		if (left->without[i] > left->without[most])
			most = i;
	if (!left->without[most])
		return -1;
	left->without[most] = 0;
	return most;
}

const char *servers_text(const struct servers *servers, char *buffer)
{
	struct servers left = *servers;
	int used =
	    snprintf(buffer, SERVERS_TEXT_MAX, "%.1f %% of the samples of servers have no request",
		     percent(servers_without(servers), servers));

	for (int i = 0; i < REASONS_TOLD && used < SERVERS_TEXT_MAX; i++) {
		const int why = take_most(&left);

		if (why < 0)
			break;
		used += snprintf(buffer + used, (size_t)(SERVERS_TEXT_MAX - used), "%s %s %.1f %%",
				 i ? "," : ":", servers_reason((size_t)why),
				 percent(servers->without[why], servers));
	}
	return buffer;
}

json_t *servers_json(const struct servers *servers)
{
	json_t *reasons;

	if (!servers->samples)
		return NULL;
	reasons = json_object();
	for (size_t i = 0; i < SERVERS_REASONS; i++)
		if (servers->without[i])
			json_object_set_new(reasons, servers_reason(i),
					    json_integer((json_int_t)servers->without[i]));
	return json_pack("{sI,sI,so}", "samples", (json_int_t)servers->samples, "without_request",
			 (json_int_t)servers_without(servers), "reasons", reasons);
}
