/* SPDX-License-Identifier: Apache-2.0 */
/* What ctxprop orders beside policies: attach, detach, drain. */
#ifndef CTXPROP_ORDERS_H
#define CTXPROP_ORDERS_H

#include "control/codec.h"
#include "daemon/drain.h"
#include "daemon/sites.h"

struct orders {
	struct sites *sites;
	const struct engine *engine;
	struct drain *drain;
};

/* Is this type of message an order? */
bool orders_has(__u16 type);

/*
 * Carry out an order, and put what the world may hear of it into `news`. 0 or -errno with its text.
 */
int orders_do(const struct orders *orders, const struct nlmsghdr *request,
	      struct control_message *news, struct policy_error *error);

#endif
