// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <jansson.h>

#include "base/foreign.h"
#include "cmd/command.h"
#include "cmd/json.h"
#include "cmd/profile_endpoints.h"
#include "cmd/profile_show.h"
#include "cmd/profile_table.h"
#include "profile/flame_message.h"
#include "profile/message_endpoints.h"
#include "trace/json.h"

static int compare(const void *a, const void *b)
{
	const struct flame *first = *(const struct flame *const *)a;
	const struct flame *second = *(const struct flame *const *)b;

	return (first->total < second->total) - (first->total > second->total);
}

/* What stands on the root, the widest first. Returns how many there are. */
static size_t sort_children(const struct flame *root, const struct flame ***ret)
{
	const struct flame **sorted;
	size_t count = 0;

	for (const struct flame *child = root->child; child; child = child->sibling)
		count++;
	sorted = calloc(count + 1, sizeof(const struct flame *));
	*ret = sorted;
	if (!sorted)
		return 0;
	for (const struct flame *child = root->child; child; child = child->sibling)
		*sorted++ = child;
	qsort(*ret, count, sizeof(const struct flame *), compare);
	return count;
}

static void print_child(const struct flame *child, const struct flame *root, enum flame_unit unit)
{
	const double amount = unit == FLAME_NS ? (double)child->total / 1e6 : (double)child->total;
	__u64 hottest = 0;
	const char *name = flame_hottest(child, &hottest);

	printf("%10.0f %6.1f%%  ", amount, 100.0 * (double)child->total / (double)root->total);
	foreign_print(child->name);
	if (name && hottest) {
		fputs("  ", stdout);
		foreign_print(name);
		printf(" %.0f%%", 100.0 * (double)hottest / (double)child->total);
	}
	putchar('\n');
}

static void print_tree(const struct flame *root, enum flame_unit unit)
{
	const struct flame **sorted;
	size_t count = sort_children(root, &sorted);

	printf("%10s %7s  %s\n", unit == FLAME_NS ? "MS" : "SAMPLES", "SHARE",
	       "ENDPOINT  HOTTEST FUNCTION");
	for (size_t i = 0; i < count && i < PROFILE_TABLE_ROWS; i++)
		print_child(sorted[i], root, unit);
	free(sorted);
}

static int print_tree_json(const struct flame *root, enum flame_unit unit)
{
	const char *key = unit == FLAME_NS ? "ns" : "samples";
	json_t *endpoints = json_array();
	const struct flame **sorted;
	size_t count = sort_children(root, &sorted);

	for (size_t i = 0; i < count; i++) {
		json_t *object = json_pack("{sI}", key, (json_int_t)sorted[i]->total);

		json_set_text(object, "endpoint", sorted[i]->name);
		json_array_append_new(endpoints, object);
	}
	free(sorted);
	return json_print(
	    json_pack("{sI,so}", key, (json_int_t)root->total, "endpoints", endpoints));
}

/* Of profiles of other programs. */
static int show_tree(const struct profile_reading *reading, const struct message_weight *weight,
		     const struct flame *root)
{
	if (reading->json)
		return print_tree_json(root, flame_unit_of(weight));
	print_tree(root, flame_unit_of(weight));
	return COMMAND_OK;
}

int profile_show(const struct profile_reading *reading, const struct message *message,
		 const struct windows_said *said)
{
	const struct message_weight weight = message_by_count(message);
	struct flame *root = flame_of_message(&weight, true);
	int exit_code;

	if (!root)
		return command_refuse("out of memory");
	if (message_has_endpoints(message))
		exit_code = profile_show_endpoints(reading, message, root, said);
	else
		exit_code = show_tree(reading, &weight, root);
	flame_free(root);
	return exit_code;
}
