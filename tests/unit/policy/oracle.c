// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "oracle.h"
#include "control/policy_model.h"

static bool is_ipv4(const __u8 address[16])
{
	for (int i = 0; i < 10; i++)
		if (address[i])
			return false;
	return address[10] == 0xff && address[11] == 0xff;
}

static bool bit(const __u8 address[16], unsigned int n)
{
	return address[n / 8] >> (7 - n % 8) & 1;
}

static bool in_prefix(const struct policy_prefix *prefix, const __u8 address[16])
{
	bool ipv4 = prefix->bits >= 96 && is_ipv4(prefix->address);

	for (unsigned int n = 0; n < prefix->bits; n++)
		if (bit(prefix->address, n) != bit(address, n))
			return false;
	return ipv4 == is_ipv4(address);
}

static bool in_set(const struct policy *policy, const char *name, const __u8 address[16])
{
	for (size_t i = 0; i < policy->set_count; i++) {
		const struct policy_set *set = &policy->sets[i];

		if (strcmp(set->name, name) != 0)
			continue;
		for (size_t k = 0; k < set->count; k++)
			if (in_prefix(&set->prefixes[k], address))
				return true;
	}
	return false;
}

static bool end_fits(const struct policy *policy, const struct policy_end *end,
		     const __u8 address[16])
{
	if (end->kind == POLICY_ANYONE)
		return true;
	if (end->kind == POLICY_SET)
		return in_set(policy, end->set, address) ^ end->negated;
	return in_prefix(&end->prefix, address) ^ end->negated;
}

static bool cgroup_fits(const char *wanted, const char *cgroup)
{
	size_t length = strlen(wanted);

	if (!length || !strcmp(wanted, "/"))
		return !length || cgroup[0];
	return !strncmp(wanted, cgroup, length) && (!cgroup[length] || cgroup[length] == '/');
}

static bool host_fits(const char *wanted, const char *host)
{
	size_t length = strlen(wanted), whole = strlen(host);

	if (wanted[0] != '*')
		return !length || !strcmp(wanted, host);
	/* "*.b" fits "a.b", not "b" and not ".b". */
	return whole > length - 1 && !strcmp(host + whole - (length - 1), wanted + 1);
}

static bool port_fits(const struct policy_rule *rule, __u16 port)
{
	bool any = !rule->port_count;

	for (unsigned int i = 0; i < rule->port_count; i++)
		any |= rule->ports[i].first <= port && port <= rule->ports[i].last;
	return any;
}

static bool fits(const struct policy *policy, const struct policy_rule *rule,
		 const struct request *request)
{
	return rule->dir == request->dir && end_fits(policy, &rule->from, request->from) &&
	       end_fits(policy, &rule->to, request->to) && port_fits(rule, request->port) &&
	       (!rule->device[0] || !strcmp(rule->device, request->device)) &&
	       cgroup_fits(rule->cgroup, request->cgroup) && host_fits(rule->host, request->host);
}

__u32 oracle_prio(const struct policy *policy, const struct request *request)
{
	for (size_t i = 0; i < policy->count; i++)
		if (fits(policy, &policy->rules[i], request))
			return policy->rules[i].prio;
	for (size_t i = 0; i < POLICY_BUILTIN_RULES; i++)
		if (fits(policy, policy_builtin(i), request))
			return policy_builtin(i)->prio;
	return POLICY_NONE;
}
