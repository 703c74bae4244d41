// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <linux/types.h>

#include "base/text.h"
#include "control/bounds.h"
#include "control/compile.h"
#include "control/policy_model.h"
#include "control/policy_sets.h"
#include "control/policy_types.h"
#include "control/prefix.h"
#include "policy.h"
#include "policy_host.h"

/* Which sets an address is in: bit i is for policy->sets[i]. */
struct in_sets {
	bool set[POLICY_SETS_MAX];
};

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

/* Look an address up in all sets. */
static void sets_find(const struct policy *policy, const struct policy_number *address,
		      struct in_sets *ret)
{
	for (size_t i = 0; i < policy->set_count; i++)
		ret->set[i] = set_has(&policy->sets[i], address);
}

/*
 * Does an end of a rule match an address that is in these sets? An IPv6 network contains no IPv4
 * address, however short its prefix is. A set that does not exist is empty.
 */
static bool end_has(const struct policy *policy, const struct policy_end *end,
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

/* Add the addresses at which what this end matches begins and ends. 0 or -ENOMEM. */
static int end_bounds(const struct policy *policy, const struct policy_end *end,
		      struct bounds *bounds)
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

static const char *domain_of(const char *pattern)
{
	return pattern[0] == '*' ? pattern + 2 : NULL;
}

/* The number that a pattern, "api.example.com" or "*.example.com", is looked up by. */
static __u64 host_number(const char *pattern)
{
	const char *domain = domain_of(pattern), *name = domain ? domain : pattern;
	struct policy_host host = {.len = (__u8)strlen(name)};
	struct policy_labels labels;

	text_copy((char *)host.name, sizeof(host.name), name);
	policy_labels_begin(&labels, &host);
	while (!policy_labels_take(&labels, &host))
		;
	return policy_host_number(labels.hash, !domain);
}

/* Is `name` below the domain? */
static bool is_below(const char *name, const char *domain)
{
	size_t length = strlen(name), behind = strlen(domain);

	return length > behind && name[length - behind - 1] == '.' &&
	       !strcmp(name + length - behind, domain);
}

/* Does the first pattern match every host that the second one matches? */
static bool host_encloses(const char *outer, const char *inner)
{
	const char *domain = domain_of(outer), *inner_domain = domain_of(inner);

	if (!strcmp(outer, inner))
		return true;
	return domain && is_below(inner_domain ? inner_domain : inner, domain);
}

/* Has a pattern that begins with "*." more labels than are compared? */
static bool host_is_deep(const char *pattern)
{
	const char *domain = domain_of(pattern);
	unsigned int labels = 1;

	for (; domain && *domain; domain++)
		labels += *domain == '.';
	return domain && labels > POLICY_DOMAINS_MAX;
}

#define VECTOR_SLOTS (POLICY_VECTORS_MAX * 2) /* of the hash table; a power of two */

struct vectors {
	struct policy_vector *vector; /* POLICY_VECTORS_MAX of them */
	__u32 count;
	__u16 slot[VECTOR_SLOTS]; /* number of a vector + 1; 0: free */
};

/* Set the bit of a rule. */
static inline void vector_set(struct policy_vector *vector, __u32 rule)
{
	vector->word[rule / 64] |= 1ULL << rule % 64;
}

static __u32 hash(const struct policy_vector *vector)
{
	__u64 sum = 0;

	for (int i = 0; i < POLICY_WORDS; i++)
		sum = (sum ^ vector->word[i]) * 0x9e3779b97f4a7c15ULL;
	return (__u32)(sum >> 32);
}

/*
 * The number of an equal vector, or of this one, which is added; -E2BIG: there is no room for it.
 */
static int vectors_number(struct vectors *vectors, const struct policy_vector *wanted)
{
	__u32 at = hash(wanted) & (VECTOR_SLOTS - 1);

	/* Half of the slots stay free, so this ends. */
	for (; vectors->slot[at]; at = (at + 1) & (VECTOR_SLOTS - 1))
		if (!memcmp(&vectors->vector[vectors->slot[at] - 1], wanted, sizeof(*wanted)))
			return vectors->slot[at] - 1;
	if (vectors->count == POLICY_VECTORS_MAX)
		return -E2BIG;
	vectors->vector[vectors->count] = *wanted;
	vectors->slot[at] = (__u16)++vectors->count;
	return (int)vectors->count - 1;
}

/* What a compilation carries along. */
struct compile {
	const struct policy *policy;
	const struct policy_names *names;
	struct policy_image *image;
	struct policy_error *error;
	struct vectors vectors;
	__u32 bounds;                   /* used so far, in all dimensions */
	__u64 number[POLICY_RULES_MAX]; /* of each rule: the number of its device or cgroup */
	struct in_sets in;              /* those that the address at hand is in */
};

static __u32 rules_of(const struct compile *c)
{
	return (__u32)c->policy->count + POLICY_BUILTIN_RULES;
}

static const struct policy_rule *rule_at(const struct compile *c, __u32 i)
{
	return i < c->policy->count ? &c->policy->rules[i]
				    : policy_builtin(i - (__u32)c->policy->count);
}

/* Does a rule match the class of a dimension that begins with `number`? */
typedef bool (*rule_fits)(const struct compile *c, __u32 rule, const struct policy_number *number);

static int add_class(struct compile *c, const struct policy_number *number, rule_fits fits)
{
	struct policy_vector vector = {};
	int found;

	if (c->bounds == POLICY_BOUNDS_MAX)
		return policy_fail(c->error, -E2BIG,
				   "the policy names more than %d networks, ports, devices, "
				   "cgroups and hosts",
				   POLICY_BOUNDS_MAX / 2);
	sets_find(c->policy, number, &c->in);
	for (__u32 i = 0; i < rules_of(c); i++)
		if (fits(c, i, number))
			vector_set(&vector, i);
	found = vectors_number(&c->vectors, &vector);
	if (found < 0)
		return policy_fail(c->error, -E2BIG,
				   "the policy has more than %d different combinations of rules",
				   POLICY_VECTORS_MAX);
	c->image->bound[c->bounds] = *number;
	c->image->bound_vector[c->bounds++] = (__u16)found;
	return 0;
}

static int add_classes(struct compile *c, enum policy_dimension dimension, struct bounds *bounds,
		       rule_fits fits)
{
	struct policy_span *span = &c->image->span[dimension];
	int err = bounds_add(bounds, (struct policy_number){});

	if (err)
		return policy_fail(c->error, err, "out of memory");
	bounds_sort(bounds);
	span->first = c->bounds;
	for (size_t i = 0; !err && i < bounds->count; i++)
		err = add_class(c, &bounds->number[i], fits);
	span->count = c->bounds - span->first;
	return err;
}

static bool fits_from(const struct compile *c, __u32 rule, const struct policy_number *number)
{
	return end_has(c->policy, &rule_at(c, rule)->from, number, &c->in);
}

static bool fits_to(const struct compile *c, __u32 rule, const struct policy_number *number)
{
	return end_has(c->policy, &rule_at(c, rule)->to, number, &c->in);
}

static int compile_ends(struct compile *c, enum policy_dimension dimension)
{
	struct bounds bounds = {};
	int err = 0;

	for (__u32 i = 0; !err && i < rules_of(c); i++) {
		const struct policy_rule *rule = rule_at(c, i);

		err = end_bounds(c->policy, dimension == POLICY_FROM ? &rule->from : &rule->to,
				 &bounds);
	}
	if (err)
		policy_fail(c->error, err, "out of memory");
	else
		err = add_classes(c, dimension, &bounds,
				  dimension == POLICY_FROM ? fits_from : fits_to);
	bounds_free(&bounds);
	return err;
}

static bool fits_port(const struct compile *c, __u32 i, const struct policy_number *number)
{
	const struct policy_rule *rule = rule_at(c, i);

	for (unsigned int n = 0; n < rule->port_count; n++)
		if (number->low >= rule->ports[n].first && number->low <= rule->ports[n].last)
			return true;
	return !rule->port_count;
}

/* Add the ports at which the ranges of a rule begin and end. */
static int add_ports(struct bounds *bounds, const struct policy_rule *rule)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < rule->port_count; i++)
		err = bounds_add_range(bounds, (struct policy_number){0, rule->ports[i].first},
				       (struct policy_number){0, rule->ports[i].last});
	return err;
}

static int compile_ports(struct compile *c)
{
	struct bounds bounds = {};
	int err = 0;

	for (__u32 i = 0; !err && i < rules_of(c); i++)
		err = add_ports(&bounds, rule_at(c, i));
	if (err)
		policy_fail(c->error, err, "out of memory");
	else
		err = add_classes(c, POLICY_PORT, &bounds, fits_port);
	bounds_free(&bounds);
	return err;
}

static bool fits_device(const struct compile *c, __u32 i, const struct policy_number *number)
{
	return !rule_at(c, i)->device[0] || (number->low && c->number[i] == number->low);
}

/* Is the cgroup of rule `outer` that of rule `inner`, or one around it? */
static bool encloses_cgroup(const char *outer, const char *inner)
{
	size_t length = strlen(outer);

	if (length == 1)
		return true; /* "/" */
	return !strncmp(outer, inner, length) && (inner[length] == '/' || !inner[length]);
}

/*
 * Does a rule match the class of a cgroup? Packets use the class of the innermost cgroup that rules
 * name, so that class must also match the rules for the cgroups around it.
 */
static bool fits_cgroup(const struct compile *c, __u32 i, const struct policy_number *number)
{
	const char *cgroup = rule_at(c, i)->cgroup;

	if (!cgroup[0])
		return true;
	for (__u32 other = 0; number->low && other < c->policy->count; other++)
		if (c->number[other] == number->low)
			return c->number[i] && encloses_cgroup(cgroup, rule_at(c, other)->cgroup);
	return false;
}

static __u64 number_of_device(const struct compile *c, const struct policy_rule *rule)
{
	return rule->device[0] ? c->names->device(rule->device, c->names->data) : 0;
}

static __u64 number_of_cgroup(const struct compile *c, const struct policy_rule *rule)
{
	return rule->cgroup[0] ? c->names->cgroup(rule->cgroup, c->names->data) : 0;
}

/* A dimension whose classes are single numbers that names stand for. */
static int compile_named(struct compile *c, enum policy_dimension dimension,
			 __u64 (*number_of)(const struct compile *, const struct policy_rule *),
			 rule_fits fits)
{
	struct bounds bounds = {};
	int err = 0;

	for (__u32 i = 0; !err && i < rules_of(c); i++) {
		struct policy_number number = {0, number_of(c, rule_at(c, i))};

		c->number[i] = number.low;
		if (number.low)
			err = bounds_add_range(&bounds, number, number);
	}
	if (err)
		policy_fail(c->error, err, "out of memory");
	else
		err = add_classes(c, dimension, &bounds, fits);
	bounds_free(&bounds);
	return err;
}

/*
 * Does a rule match the class of a host? Packets use the class of the longest pattern that fits, so
 * that class must also match the rules for the patterns around it.
 */
static bool fits_host(const struct compile *c, __u32 i, const struct policy_number *number)
{
	const char *host = rule_at(c, i)->host;

	if (!host[0])
		return true;
	for (__u32 other = 0; number->low && other < c->policy->count; other++)
		if (c->number[other] == number->low)
			return host_encloses(host, rule_at(c, other)->host);
	return false;
}

static __u64 number_of_host(const struct compile *c, const struct policy_rule *rule)
{
	(void)c;
	return rule->host[0] ? host_number(rule->host) : 0;
}

static int compile_dirs(struct compile *c)
{
	for (enum policy_dir dir = 0; dir < POLICY_DIRS; dir++) {
		struct policy_vector vector = {};
		int found;

		for (__u32 i = 0; i < rules_of(c); i++)
			if (rule_at(c, i)->dir == dir)
				vector_set(&vector, i);
		found = vectors_number(&c->vectors, &vector);
		if (found < 0)
			return found;
		c->image->dir_vector[dir] = (__u32)found;
	}
	return 0;
}

/* The share of new traces as a threshold for 56 random bits (W3C Trace Context 2, random flag). */
static __u64 unsampled(__u32 sample)
{
	return ((__u64)(POLICY_SAMPLE_ALL - sample) << 36) / POLICY_SAMPLE_ALL << 20;
}

struct policy_verdict policy_verdict_of(const struct policy_rule *rule)
{
	return (struct policy_verdict){
	    .unsampled = unsampled(rule->sample),
	    .prio = rule->prio,
	    .action = (__u8)rule->action,
	    .flags = (__u8)((rule->no_root ? POLICY_NO_ROOT : 0) |
			    (rule->no_tracestate ? POLICY_NO_TRACESTATE : 0)),
	    .counter = (__u16)rule->dir,
	};
}

static int compile_all(struct compile *c)
{
	int err = compile_dirs(c);

	if (!err)
		err = compile_ends(c, POLICY_FROM);
	if (!err)
		err = compile_ends(c, POLICY_TO);
	if (!err)
		err = compile_ports(c);
	if (!err)
		err = compile_named(c, POLICY_DEVICE, number_of_device, fits_device);
	if (!err)
		err = compile_named(c, POLICY_CGROUP, number_of_cgroup, fits_cgroup);
	if (!err)
		err = compile_named(c, POLICY_HOST, number_of_host, fits_host);
	for (__u32 i = 0; i < rules_of(c); i++)
		c->image->verdict[i] = policy_verdict_of(rule_at(c, i));
	c->image->rules = rules_of(c);
	return err;
}

/* The packet programs compare fewer labels than a pattern could have. */
static int check_hosts(const struct policy *policy, struct policy_error *error)
{
	for (size_t i = 0; i < policy->count; i++) {
		const struct policy_rule *rule = &policy->rules[i];

		if (host_is_deep(rule->host))
			return policy_fail(error, -EOPNOTSUPP,
					   "rule %u: no more than %d labels can stand behind '*.'",
					   rule->prio, POLICY_DOMAINS_MAX);
	}
	return 0;
}

static int compile_into(struct policy_image *image, const struct policy *policy,
			const struct policy_names *names, struct policy_error *error)
{
	struct compile *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return policy_fail(error, -ENOMEM, "out of memory");
	c->policy = policy;
	c->names = names;
	c->image = image;
	c->error = error;
	c->vectors.vector = image->vector;
	err = compile_all(c);
	free(c);
	return err;
}

int policy_compile(const struct policy *policy, const struct policy_names *names, __u32 generation,
		   struct policy_image **ret, struct policy_error *error)
{
	struct policy_image *image;
	int err = check_hosts(policy, error);

	if (err)
		return err;
	image = calloc(1, sizeof(*image));
	if (!image)
		return policy_fail(error, -ENOMEM, "out of memory");
	image->generation = generation;
	err = compile_into(image, policy, names, error);
	if (err)
		free(image);
	else
		*ret = image;
	return err;
}
