/* SPDX-License-Identifier: Apache-2.0 */
/* What ctxprop asks the daemon to do. */
#ifndef CTXPROP_DAEMON_REQUESTS_H
#define CTXPROP_DAEMON_REQUESTS_H

#include "control/server.h"
#include "daemon/orders.h"
#include "daemon/policies.h"

struct requests {
	struct policies *policies;
	struct orders orders; /* to be filled in as soon as there is who carries them out */
	struct control_server *server;
};

/* Listen for requests about these policies, which must outlive it. 0 or -errno. */
int requests_open(struct requests *requests, struct policies *policies, gid_t readers);

void requests_close(struct requests *requests);

#endif
