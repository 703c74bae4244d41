/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bind values to the parameters of an SQL statement, one after the other: each call adds 1 to
 * `*parameter` (0 at first) and binds the parameter of that number.
 */
#ifndef CTXPROP_BIND_H
#define CTXPROP_BIND_H

#include <linux/types.h>
#include <sqlite3.h>

#include "base/address.h"

/* A text; NULL for an empty one. It must stay valid until the statement was run. */
void bind_text(sqlite3_stmt *statement, int *parameter, const char *text);

/* A number, also 0. */
void bind_number(sqlite3_stmt *statement, int *parameter, __u64 number);

/* A number; NULL for 0, which means that it is not known. */
void bind_known(sqlite3_stmt *statement, int *parameter, __u64 number);

/* The two ends of a connection, as in struct flow_key. */
struct ends {
	const __u8 *local, *remote; /* 16 bytes each */
	__be16 local_port, remote_port;
	__u32 netns;
};

/* Room for their texts, which must stay valid until the statement was run. */
struct end_texts {
	char local[ADDRESS_TEXT_MAX], remote[ADDRESS_TEXT_MAX];
};

/* Local address and port, remote address and port, network namespace. */
void bind_ends(sqlite3_stmt *statement, int *parameter, const struct ends *ends,
	       struct end_texts *texts);

#endif
