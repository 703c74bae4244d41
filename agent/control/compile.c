// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/bounds.h"
#include "control/compile.h"
#include "control/ends.h"
#include "control/hosts.h"
#include "control/policy_model.h"
#include "control/vectors.h"
#include "policy_host.h"

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
