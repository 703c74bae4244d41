// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "profile/flame.h"
#include "profile/strings.h"

/* What a tree has on the CPU by the function that it ends in, whatever called it. */
struct tally {
	struct strings names;
	__u64 *count; /* by number of the name */
	size_t room;
};

/* Returns 0 or -1. */
static int add(struct tally *tally, const struct flame *node)
{
	long number = strings_add(&tally->names, node->name);
	__u64 *more;

	if (number < 0)
		return -1;
	if ((size_t)number >= tally->room) {
		more = reallocarray(tally->count, tally->names.room, sizeof(*more));
		if (!more)
			return -1;
		for (size_t i = tally->room; i < tally->names.room; i++)
			more[i] = 0;
		tally->count = more;
		tally->room = tally->names.room;
	}
	tally->count[number] += node->self;
	return 0;
}

static int add_below(struct tally *tally, const struct flame *node)
{
	int err = node->self && node->kind != FLAME_WAIT ? add(tally, node) : 0;

	for (const struct flame *child = node->child; child && !err; child = child->sibling)
		err = add_below(tally, child);
	return err;
}

/* The name as the tree has it. */
static const char *name_in(const struct flame *node, const char *name)
{
	const char *found = node->self && !strcmp(node->name, name) ? node->name : NULL;

	for (const struct flame *child = node->child; child && !found; child = child->sibling)
		found = name_in(child, name);
	return found;
}

const char *flame_hottest(const struct flame *root, __u64 *ret_samples)
{
	struct tally tally = {};
	const char *name = NULL;
	size_t most = 0;

	if (!add_below(&tally, root) && tally.room) {
		for (size_t i = 1; i < tally.names.count; i++)
			if (tally.count[i] > tally.count[most])
				most = i;
		*ret_samples = tally.count[most];
		name = name_in(root, tally.names.text[most]);
	}
	strings_free(&tally.names);
	free(tally.count);
	return name;
}
