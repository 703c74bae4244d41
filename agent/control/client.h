/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command's end of the control socket. The daemon is the one that works in the caller's network
 * namespace. It listens in its own, which may be another one; then the socket is made there.
 */
#ifndef CTXPROP_CONTROL_CLIENT_H
#define CTXPROP_CONTROL_CLIENT_H

#include "control/codec.h"

struct control_client;

/* Open a socket; `listen`: to notifications. 0, or -errno and what is wrong in error->text. */
int control_client_open(bool listen, struct control_client **ret_client,
			struct policy_error *error);

/* Is the daemon's own network namespace another one than the caller's? */
bool control_client_is_away(const struct control_client *client);

/*
 * Begin the client's next request, in a buffer of its own; flags beside NLM_F_REQUEST. A large one
 * takes CAP_NET_ADMIN.
 */
struct control_message *control_client_begin(struct control_client *client, __u16 type,
					     __u16 flags);

/*
 * Send the request and wait for its acknowledgement, or for all parts of its answer, which go to
 * the visitor. 0; -ECONNREFUSED: no daemon here; -ETIMEDOUT; -EACCES: what answers is not root's;
 * or the daemon's own -errno. error->text says more.
 */
int control_client_ask(struct control_client *client, const struct control_visitor *visitor);

/*
 * The same, but waits for a second at most. It has to wait at all because the daemon checks the
 * sender while the socket is open.
 */
int control_client_tell(struct control_client *client, struct policy_error *error);

/*
 * Wait for one notification. Its message type goes into ret_type, what it says to the visitor. 0,
 * or -errno; -ENOBUFS: some were lost.
 */
int control_client_listen(struct control_client *client, const struct control_visitor *visitor,
			  __u16 *ret_type);

/* The process that has answered last, as this namespace numbers it; 0: none that is known. */
pid_t control_client_daemon(const struct control_client *client);

/* NULL is allowed. */
void control_client_close(struct control_client *client);

#endif
