// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/text.h"
#include "control/hosts.h"
#include "control/policy_types.h"
#include "policy_host.h"

static const char *domain_of(const char *pattern)
{
	return pattern[0] == '*' ? pattern + 2 : NULL;
}

__u64 host_number(const char *pattern)
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
