/* SPDX-License-Identifier: Apache-2.0 */
/* What all connections of the client share. */
#ifndef CHAOS_CLIENT_H
#define CHAOS_CLIENT_H

#include "check.h"

struct client {
	struct settings settings;
	struct tally tally;
	struct seen seen;
	int epoll;
	uint64_t started_ms, now_ms;
	uint64_t issued;
	uint64_t opened;
};

/* True while more requests are to be begun. */
bool client_may_issue(const struct client *client);

#endif
