/* SPDX-License-Identifier: Apache-2.0 */
/* Talking to the daemon of this network namespace. */
#ifndef CTXPROP_CMD_TALK_H
#define CTXPROP_CMD_TALK_H

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

/* Say it and hear the answer; complains itself. Returns an exit code. */
int talk(const struct talk *talk, const struct control_visitor *visitor);

/* The same where no answer but a word is expected. */
int talk_order(const struct talk *talk);

#endif
