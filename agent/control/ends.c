// SPDX-License-Identifier: Apache-2.0
#include "control/ends.h"
#include "control/policy_sets.h"
#include "control/prefix.h"

#define IPV4_MARK 0xffffULL /* the high half of ::ffff:a.b.c.d's low half */

static bool is_ipv4(const struct policy_number *address)
{
	return !address->high && address->low >> 32 == IPV4_MARK;
}

/* The last address of a network. */
static struct policy_number last_of(const struct policy_prefix *prefix)
{
	struct policy_number last = policy_address(prefix->address);

	if (prefix->bits < 64) {
		last.high |= ~0ULL >> prefix->bits;
		last.low = ~0ULL;
	} else if (prefix->bits < 128) {
		last.low |= ~0ULL >> (prefix->bits - 64);
	}
	return last;
}

static bool prefix_has(const struct policy_prefix *prefix, const struct policy_number *address)
{
	struct policy_number first = policy_address(prefix->address), last = last_of(prefix);

	return prefix_is_ipv4(prefix) == is_ipv4(address) && policy_reaches(&first, address) &&
	       policy_reaches(address, &last);
}

static bool set_has(const struct policy_set *set, const struct policy_number *address)
{
	for (size_t i = 0; i < set->count; i++)
		if (prefix_has(&set->prefixes[i], address))
			return true;
	return false;
}

void sets_find(const struct policy *policy, const struct policy_number *address,
	       struct in_sets *ret)
{
	for (size_t i = 0; i < policy->set_count; i++)
		ret->set[i] = set_has(&policy->sets[i], address);
}

bool end_has(const struct policy *policy, const struct policy_end *end,
	     const struct policy_number *address, const struct in_sets *in)
{
	const struct policy_set *set;

	switch (end->kind) {
	case POLICY_PREFIX:
		return prefix_has(&end->prefix, address) != end->negated;
	case POLICY_SET:
		set = policy_find_set(policy, end->set);
		return (set && in->set[set - policy->sets]) != end->negated;
	default:
		return true;
	}
}

static int prefix_bounds(const struct policy_prefix *prefix, struct bounds *bounds)
{
	static const struct policy_number ipv4_first = {0, IPV4_MARK << 32},
					  ipv4_last = {0, IPV4_MARK << 32 | 0xffffffff};
	int err = bounds_add_range(bounds, policy_address(prefix->address), last_of(prefix));

	/* Exclude IPv4 addresses from an IPv6 network. */
	return err || prefix_is_ipv4(prefix) ? err
					     : bounds_add_range(bounds, ipv4_first, ipv4_last);
}

int end_bounds(const struct policy *policy, const struct policy_end *end, struct bounds *bounds)
{
	const struct policy_set *set;
	int err = 0;

	if (end->kind == POLICY_PREFIX)
		return prefix_bounds(&end->prefix, bounds);
	if (end->kind != POLICY_SET)
		return 0;
	set = policy_find_set(policy, end->set);
	for (size_t i = 0; !err && set && i < set->count; i++)
		err = prefix_bounds(&set->prefixes[i], bounds);
	return err;
}
