/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon's end of the control socket. Anybody may write to a NETLINK_USERSOCK. So the
 * credentials that the kernel attaches to each message, and what its sender may do (right.h), are
 * checked before the message is read.
 */
#ifndef CTXPROP_CONTROL_SERVER_H
#define CTXPROP_CONTROL_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

#include "control/codec.h"

struct control_server;

/* What the sender of a datagram may do. */
enum control_standing { CONTROL_UNASKED, CONTROL_OTHER, CONTROL_ADMIN };

/* Who sent a request, and what that process may do. */
struct control_peer {
	pid_t pid; /* of who may change things: in our own pid namespace; 0: it is not known */
	uid_t uid;
	gid_t gid;
	__u32 port;
	__u32 sequence;
	enum control_standing standing;
	__u32 questions; /* of this datagram that were answered */
};

/* An answer in parts; made by the server, filled by the handler. */
struct control_answer;

/*
 * Called for each request that is allowed: its type is known and its length was checked. For a
 * dump the parts go into `answer`. 0 or -errno with error->text; the server tells the peer.
 */
typedef int (*control_handler)(const struct nlmsghdr *request, struct control_answer *answer,
			       void *data, struct policy_error *error);

struct control_server_options {
	control_handler handle;
	void *data;
	/* Members of this group may ask, too, once in a datagram; 0: only root. */
	gid_t readers;
};

/* Listen in this network namespace, at the usual port if it is free. 0 or -errno. */
int control_server_open(const struct control_server_options *options,
			struct control_server **ret_server);

/* The netlink port that it got. */
__u32 control_server_port(const struct control_server *server);

/* The descriptor to poll for input, and what to call then. */
int control_server_fd(const struct control_server *server);
void control_server_read(struct control_server *server);

/* Add a rule, a set or the store to an answer. 0 or -errno: the peer does not read. */
int control_answer_rule(struct control_answer *answer, const struct policy_rule *rule,
			const struct control_about *about);
int control_answer_set(struct control_answer *answer, const struct policy_set *set);
int control_answer_store(struct control_answer *answer, const struct control_store *store);

/* Whom the answer is for. */
const struct control_peer *control_answer_peer(const struct control_answer *answer);

/* Send a notification to the group, whether or not anybody listens. */
void control_server_notify(const struct control_server *server,
			   const struct control_message *message);

/* NULL is allowed. */
void control_server_close(struct control_server *server);

#endif
