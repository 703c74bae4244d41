// SPDX-License-Identifier: Apache-2.0
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "profile/message/counts.h"
#include "profile/message/filter.h"
#include "profile/message/pprof_types.h"

static bool label_fits(const struct message *message, const Label *label, const char *wanted)
{
	const char *key = message_text(message, label->key);
	const size_t length = strlen(key);
	char number[32];

	if (strncmp(wanted, key, length) != 0 || wanted[length] != '=')
		return false;
	snprintf(number, sizeof(number), "%lld", (long long)label->num);
	return !fnmatch(wanted + length + 1,
			label->str ? message_text(message, label->str) : number, 0);
}

/* Has it a label that fits "KEY=PATTERN"? Those that are numbers fit by their digits. */
static bool has_label(const struct message *message, const Sample *sample, const char *wanted)
{
	for (size_t i = 0; i < sample->n_label; i++)
		if (label_fits(message, sample->label[i], wanted))
			return true;
	return false;
}

static bool takes_sample(const struct message *message, const Sample *sample, const void *data)
{
	const struct message_filter *filter = data;
	const char *endpoint = message_label(message, sample, "endpoint");
	const char *bucket = message_label(message, sample, "latency_bucket");
	const char *trace = message_label(message, sample, "trace_id");
	enum latency latency = LATENCY_UNKNOWN;

	if (*bucket)
		latency_parse(bucket, &latency);
	if (filter->endpoint && !endpoint_fits(endpoint, filter->endpoint))
		return false;
	if (filter->trace && strncmp(trace, filter->trace, strlen(filter->trace)) != 0)
		return false;
	for (size_t i = 0; i < filter->labels; i++)
		if (!has_label(message, sample, filter->label[i]))
			return false;
	return !filter->has_latency || filter->latency[latency];
}

/* The number of requests is dropped where only part of an endpoint's samples is shown. */
static bool keeps_count(const char *of, const void *data)
{
	const struct message_filter *filter = data;
	const char *tab = strchr(of, '\t');

	if (filter->trace || filter->labels || filter->has_latency)
		return false;
	return !filter->endpoint || endpoint_fits(tab ? tab + 1 : of, filter->endpoint);
}

int message_filter(struct message *message, const struct message_filter *filter)
{
	struct message part;
	int err = message_part(message, takes_sample, filter, &part);

	if (err)
		return err;
	message->profile = part.profile;
	counts_keep(message, keeps_count, filter);
	return 0;
}
