// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/text.h"
#include "control/hosts.h"
#include "control/policy_model.h"
#include "policy_host.h"

static const char *domain_of(const char *pattern)
{
	return pattern[0] == '*' ? pattern + 2 : NULL;
}

__u64 host_number(const char *pattern)
{
	const char *domain = domain_of(pattern), *name = domain ? domain : pattern;
	__u8 window[POLICY_HEAD_MAX + 8] = {};
	struct policy_host host;

	text_copy((char *)window, POLICY_HOST_SIZE, name);
	policy_host_begin(&host, (__u32)strlen(name));
	host.end = host.len;
	policy_host_measured(&host, window);
	while (!policy_host_take(&host, window))
		;
	return policy_host_number(host.hash, !domain);
}

/* Is `name` below the domain? */
static bool is_below(const char *name, const char *domain)
{
	size_t length = strlen(name), behind = strlen(domain);

	return length > behind && name[length - behind - 1] == '.' &&
	       !strcmp(name + length - behind, domain);
}

bool host_encloses(const char *outer, const char *inner)
{
	const char *domain = domain_of(outer), *inner_domain = domain_of(inner);

	if (!strcmp(outer, inner))
		return true;
	return domain && is_below(inner_domain ? inner_domain : inner, domain);
}

bool host_is_deep(const char *pattern)
{
	const char *domain = domain_of(pattern);
	unsigned int labels = 1;

	for (; domain && *domain; domain++)
		labels += *domain == '.';
	return domain && labels > POLICY_DOMAINS_MAX;
}
