/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Carries out what ctxprop orders beside policies (attach, detach, drain), and notes what it has
 * done itself.
 */
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
 * Carry out an order. The place that it names goes into ret_place, empty: none. 0 or -errno with
 * its text.
 */
int orders_do(const struct orders *orders, const struct nlmsghdr *request,
	      struct control_place *ret_place, struct policy_error *error);

#endif
