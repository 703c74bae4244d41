// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "cmd/profile_servers.h"

void profile_print_servers(const struct servers *servers)
{
	char text[SERVERS_TEXT_MAX];

	if (servers && servers->samples)
		fprintf(stderr, "profile: %s\n", servers_text(servers, text));
}
