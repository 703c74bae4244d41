/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to the daemon that works in this network namespace. If the daemon's own namespace is
 * another one, orders that would hold in all of its namespaces are refused: they have to be given
 * in its own.
 */
#ifndef CTXPROP_CMD_TALK_H
#define CTXPROP_CMD_TALK_H

#include <sys/types.h>

#include "control/client.h"

/* What a request is made of; all but the type may be missing. */
struct talk {
	__u16 type;
	__u16 flags;
	const struct policy_rule *rule;
	const struct policy_set *set;
	const struct policy *policy; /* all of its sets and rules */
	const struct control_place *place;
};

/* Send it and read the answer; prints errors itself. Returns an exit code. */
int talk(const struct talk *talk, const struct control_visitor *visitor);

/* The same for requests that have no answer but an acknowledgement. */
int talk_order(const struct talk *talk);

/* The daemon that attends this network namespace. */
struct talk_daemon {
	pid_t pid;          /* as this process namespace numbers it; 0: it does not */
	unsigned int rules; /* beside the built-in ones */
};

/* Does it answer? 0 or -errno with its text, as control_client_ask(). Prints nothing. */
int talk_find_daemon(struct talk_daemon *ret, struct policy_error *error);

/* Where the daemon stores spans; `ret_pid` as in struct talk_daemon. As talk_find_daemon(). */
int talk_find_store(struct control_store *ret, pid_t *ret_pid, struct policy_error *error);

/* Notify the daemon, if there is one. Waits for a second at most. */
void talk_tell(__u16 type);

#endif
