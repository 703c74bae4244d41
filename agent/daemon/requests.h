/* SPDX-License-Identifier: Apache-2.0 */
/* What ctxprop asks the daemon to do. */
#ifndef CTXPROP_DAEMON_REQUESTS_H
#define CTXPROP_DAEMON_REQUESTS_H

#include "control/server.h"
#include "daemon/orders.h"
#include "daemon/policies.h"
#include "daemon/store_told.h"

struct requests {
	struct policies *policies;
	struct orders orders; /* to be filled in as soon as there is who carries them out */
	struct control_server *server;
	struct store_told store;
};

/*
 * Listen for requests about these policies, which must outlive it; `store`: where spans are stored,
 * or NULL. 0 or -errno.
 */
int requests_open(struct requests *requests, struct policies *policies, const char *store,
		  gid_t readers);

void requests_close(struct requests *requests);

#endif
