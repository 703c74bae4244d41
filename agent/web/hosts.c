// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>
#include <strings.h>
#include <arpa/inet.h>

#include "base/text.h"
#include "web/hosts.h"

#define HOST_MAX 256

int web_hosts_add(struct web_hosts *hosts, const char *name)
{
	if (hosts->count == WEB_HOSTS_MAX)
		return -E2BIG;
	hosts->name[hosts->count++] = name;
	return 0;
}

/* The host of a field without its port, and an IPv6 address without its brackets. */
static void strip(const char *field, char ret_host[HOST_MAX], bool *ret_bracketed)
{
	char *end;

	*ret_bracketed = *field == '[';
	text_copy(ret_host, HOST_MAX, field + *ret_bracketed);
	end = strchr(ret_host, *ret_bracketed ? ']' : ':');
	if (end)
		*end = '\0';
}

static bool is_address(const char *host, bool bracketed)
{
	struct in6_addr address;

	return inet_pton(bracketed ? AF_INET6 : AF_INET, host, &address) == 1;
}

bool web_hosts_allow(const struct web_hosts *hosts, const char *field)
{
	char host[HOST_MAX];
	bool bracketed;

	if (!field)
		return true;
	strip(field, host, &bracketed);
	if (is_address(host, bracketed))
		return true;
	if (bracketed)
		return false;
	for (size_t i = 0; i < hosts->count; i++)
		if (!strcasecmp(host, hosts->name[i]))
			return true;
	return !strcasecmp(host, "localhost");
}
