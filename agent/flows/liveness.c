// SPDX-License-Identifier: Apache-2.0
#include "flows/conntrack.h"
#include "flows/liveness.h"
#include "flows/sockets.h"

enum liveness liveness_of(const struct tuple *tuple)
{
	enum liveness socket = sockets_ask(tuple);

	return socket == LIVENESS_GONE ? conntrack_ask(tuple) : socket;
}
