/* SPDX-License-Identifier: Apache-2.0 */
/* The server's pedantic reading of one request head. */
#ifndef CHAOS_REQUEST_H
#define CHAOS_REQUEST_H

#include "talk.h"

enum tunnel { TUNNEL_NONE, TUNNEL_UPGRADE, TUNNEL_CONNECT };

struct request {
	struct ask ask;
	struct report report;
	enum body_kind body_kind;
	uint64_t body_length;
	bool is_head, is_http10, expects, closes;
	enum tunnel tunnel;
};

/* Read a complete head. 0, or -EPROTO with a text in `*ret_why` that says what is wrong. */
int request_read(const struct head *head, struct request *ret_request, const char **ret_why);

#endif
