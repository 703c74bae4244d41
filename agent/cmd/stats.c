// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>
#include <jansson.h>

#include "base/cleanup.h"
#include "base/reason_names.h"
#include "cmd/command.h"
#include "cmd/json.h"
#include "flows/counters.h"

const struct option_row command_stats_options[] = {
    {"statistics", 's', NULL, "show the rows that are zero, too",
     .flag = &command_flags.statistics},
    {},
};

static json_t *group_json(const struct counters *counters, enum reason_group group)
{
	json_t *object = json_object();

	for (unsigned int reason = 0; reason < REASON_COUNT; reason++) {
		const struct reason_row *row = reason_row(reason);

		if (row->group == group)
			json_object_set_new(object, row->name,
					    json_integer((json_int_t)counters->count[reason]));
	}
	return object;
}

static int print_json(const struct counters *counters)
{
	json_t *groups = json_object();

	for (enum reason_group group = 0; group < REASON_GROUPS; group++)
		json_object_set_new(groups, reason_group_name(group), group_json(counters, group));
	return json_print(groups);
}

static void print_group(const struct counters *counters, enum reason_group group,
			const struct command_flags *flags)
{
	bool titled = flags->oneline;

	for (unsigned int reason = 0; reason < REASON_COUNT; reason++) {
		const struct reason_row *row = reason_row(reason);
		unsigned long long count = counters->count[reason];

		if (row->group != group || (!count && !flags->statistics))
			continue;
		if (!titled)
			printf("%s\n", reason_group_name(group));
		titled = true;
		printf("%s ", flags->oneline ? reason_group_name(group) : " ");
		colour_print(COLOUR_NAME, "%-18s", row->name);
		printf(" %12llu  %s\n", count, row->text);
	}
}

static bool is_zero(const struct counters *counters)
{
	for (unsigned int reason = 0; reason < REASON_COUNT; reason++)
		if (counters->count[reason])
			return false;
	return true;
}

int command_stats(const struct pins *pins, const struct command_flags *flags)
{
	_cleanup_close_ int fd = command_open_map(pins, "counters");
	struct counters counters;
	int err;

	if (fd < 0)
		return COMMAND_REFUSED;
	err = counters_read(fd, &counters);
	if (err)
		return command_refuse("the counters cannot be read: %s", strerror(-err));
	if (flags->json)
		return print_json(&counters);
	for (enum reason_group group = 0; group < REASON_GROUPS; group++)
		print_group(&counters, group, flags);
	if (is_zero(&counters) && !flags->statistics && !flags->oneline)
		puts("nothing was counted yet; -s shows all rows");
	return COMMAND_OK;
}
