// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <bpf/bpf.h>

#include "base/cgroup.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "daemon/filtered.h"

/* The path of this process' cgroup (version 2) below the root. */
static bool own_cgroup(char *ret_path, size_t size)
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	char line[PATH_MAX];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		found = !strncmp(line, "0::", 3) &&
			snprintf(ret_path, size, "%s", line + 3) < (int)size;
	}
	if (file)
		fclose(file);
	return found;
}

/* Has this process' cgroup itself a program that sees what is sent? */
static bool has_filter(void)
{
	__u32 flags, count = 0;
	char path[PATH_MAX];
	_cleanup_close_ int fd = own_cgroup(path, sizeof(path)) ? cgroup_open(path) : -1;

	return fd >= 0 && !bpf_prog_query(fd, BPF_CGROUP_INET_EGRESS, 0, &flags, NULL, &count) &&
	       count;
}

static bool url_stays(const char *url)
{
	static const char *const here[] = {"127.", "localhost", "[::1]"};
	const char *host = strstr(url, "://");

	for (size_t i = 0; host && i < sizeof(here) / sizeof(here[0]); i++)
		if (!strncmp(host + 3, here[i], strlen(here[i])))
			return true;
	return false;
}

static bool address_stays(const struct sockaddr *address)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;

	return address->sa_family == AF_INET ? ntohl(v4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET
					     : IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

void filtered_tell(const char *url, const struct sockaddr *http)
{
	bool sends = url && !url_stays(url), serves = http && !address_stays(http);

	if ((sends || serves) && has_filter())
		log_info("addresses-filtered",
			 "packets of this service are filtered, by systemd's IPAddressDeny= most "
			 "likely: other hosts that %s have to be in IPAddressAllow= of its unit "
			 "(systemctl edit ctxpropd)",
			 sends ? "take spans, and name servers for them," : "ask for metrics");
}
