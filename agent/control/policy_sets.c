// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/text.h"
#include "control/policy_sets.h"
#include "control/prefix.h"

bool policy_is_set_name(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789-_";
	size_t length = strspn(name, allowed);

	return name[0] >= 'a' && name[0] <= 'z' && !name[length] && length < POLICY_NAME_SIZE &&
	       strcmp(name, "any") != 0 && strcmp(name, "all") != 0;
}

/* Where the set of this name stands, or would. */
static size_t set_place(const struct policy *policy, const char *name)
{
	size_t at = 0;

	while (at < policy->set_count && strcmp(policy->sets[at].name, name) < 0)
		at++;
	return at;
}

static struct policy_set *find(const struct policy *policy, const char *name)
{
	size_t at = set_place(policy, name);

	return at < policy->set_count && !strcmp(policy->sets[at].name, name) ? &policy->sets[at]
									      : NULL;
}

const struct policy_set *policy_find_set(const struct policy *policy, const char *name)
{
	return find(policy, name);
}

static int compare(const struct policy_prefix *a, const struct policy_prefix *b)
{
	int order = memcmp(a->address, b->address, sizeof(a->address));

	return order ? order : (int)a->bits - (int)b->bits;
}

static bool is_before(const void *entry, const void *key)
{
	return compare(entry, key) < 0;
}

static size_t prefix_place(const struct policy_set *set, const struct policy_prefix *prefix)
{
	return list_count_while(set->prefixes, set->count, sizeof(*set->prefixes), is_before,
				prefix);
}

static bool has_at(const struct policy_set *set, size_t at, const struct policy_prefix *prefix)
{
	return at < set->count && !compare(&set->prefixes[at], prefix);
}

static int make(struct policy *policy, const char *name, struct policy_set **ret,
		struct policy_error *error)
{
	size_t at = set_place(policy, name);
	struct policy_set *sets;

	if (!policy_is_set_name(name))
		return policy_fail(error, -EINVAL, "'%s' cannot be the name of a set", name);
	if (policy->set_count == POLICY_SETS_MAX)
		return policy_fail(error, -E2BIG, "there are no more than %d sets",
				   POLICY_SETS_MAX);
	sets = reallocarray(policy->sets, policy->set_count + 1, sizeof(*sets));
	if (!sets)
		return policy_fail(error, -ENOMEM, "out of memory");
	memmove(&sets[at + 1], &sets[at], (policy->set_count - at) * sizeof(*sets));
	sets[at] = (struct policy_set){};
	text_copy(sets[at].name, sizeof(sets[at].name), name);
	policy->sets = sets;
	policy->set_count++;
	*ret = &sets[at];
	return 0;
}

static int add_prefix(struct policy_set *set, const struct policy_prefix *prefix,
		      struct policy_error *error)
{
	size_t at = prefix_place(set, prefix);
	struct policy_prefix *prefixes;

	if (has_at(set, at, prefix))
		return 0;
	if (set->count == POLICY_PREFIXES_MAX)
		return policy_fail(error, -E2BIG, "a set has no more than %d networks",
				   POLICY_PREFIXES_MAX);
	prefixes = reallocarray(set->prefixes, set->count + 1, sizeof(*prefixes));
	if (!prefixes)
		return policy_fail(error, -ENOMEM, "out of memory");
	memmove(&prefixes[at + 1], &prefixes[at], (set->count - at) * sizeof(*prefixes));
	prefixes[at] = *prefix;
	set->prefixes = prefixes;
	set->count++;
	return 0;
}

int policy_put_set(struct policy *policy, const struct policy_set *set, bool exclusive,
		   struct policy_error *error)
{
	struct policy_set *there = find(policy, set->name);
	char text[POLICY_PREFIX_TEXT_MAX];
	int err = 0;

	if (!there)
		err = make(policy, set->name, &there, error);
	for (size_t i = 0; !err && i < set->count; i++) {
		size_t at = prefix_place(there, &set->prefixes[i]);

		if (exclusive && has_at(there, at, &set->prefixes[i]))
			return policy_fail(error, -EEXIST, "%s is in set '%s' already",
					   prefix_text(text, &set->prefixes[i]), set->name);
		err = add_prefix(there, &set->prefixes[i], error);
	}
	return err;
}

int policy_delete_from_set(struct policy *policy, const struct policy_set *set,
			   struct policy_error *error)
{
	struct policy_set *there = find(policy, set->name);
	char text[POLICY_PREFIX_TEXT_MAX];

	if (!there)
		return policy_fail(error, -ENOENT, "there is no set '%s'", set->name);
	for (size_t i = 0; i < set->count; i++) {
		size_t at = prefix_place(there, &set->prefixes[i]);

		if (!has_at(there, at, &set->prefixes[i]))
			return policy_fail(error, -ENOENT, "%s is not in set '%s'",
					   prefix_text(text, &set->prefixes[i]), set->name);
		there->count--;
		memmove(&there->prefixes[at], &there->prefixes[at + 1],
			(there->count - at) * sizeof(*there->prefixes));
	}
	return 0;
}

static bool names(const struct policy_end *end, const char *name)
{
	return end->kind == POLICY_SET && !strcmp(end->set, name);
}

static bool is_used(const struct policy *policy, const char *name)
{
	for (size_t i = 0; i < policy->count; i++)
		if (names(&policy->rules[i].from, name) || names(&policy->rules[i].to, name))
			return true;
	return false;
}

int policy_flush_set(struct policy *policy, const char *name, struct policy_error *error)
{
	struct policy_set *set = find(policy, name);
	size_t at;

	if (!set)
		return policy_fail(error, -ENOENT, "there is no set '%s'", name);
	set->count = 0;
	if (is_used(policy, name))
		return 0;
	free(set->prefixes);
	at = (size_t)(set - policy->sets);
	policy->set_count--;
	memmove(set, set + 1, (policy->set_count - at) * sizeof(*set));
	return 0;
}
