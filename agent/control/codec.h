/* SPDX-License-Identifier: Apache-2.0 */
/* Rules and sets to and from attributes: the one codec, for the daemon and the command. */
#ifndef CTXPROP_CONTROL_CODEC_H
#define CTXPROP_CONTROL_CODEC_H

#include <limits.h>
#include <libmnl/libmnl.h>

#include "control/policy_types.h"
#include "control/protocol.h"

/* A message in the making. */
struct control_message {
	struct nlmsghdr *header;
	size_t room; /* bytes at `header` */
};

/* What to attach to, or detach from. */
struct control_place {
	char device[POLICY_DEVICE_SIZE]; /* empty: the whole namespace */
	__u64 netns;                     /* its cookie; 0: the daemon's own */
	bool force;
};

/* Where spans are stored. */
struct control_store {
	char path[PATH_MAX]; /* absolute, in the daemon's mount namespace; empty: nowhere */
	__u64 device, inode; /* of the file (stat(2)); 0: it is not there */
};

/* What an answer says about a rule, beside the rule. */
struct control_about {
	bool builtin;
	__u64 hits; /* requests that it has decided */
};

/* Begin a message at `bytes`, which are aligned; there are `room` of them (at least 256). */
void control_begin(struct control_message *message, void *bytes, size_t room, __u16 type,
		   __u16 flags);

/*
 * Add a rule (`about` NULL: nothing else of it) or a set. false: there is no room, and the message
 * is as it was.
 */
bool control_put_rule(struct control_message *message, const struct policy_rule *rule,
		      const struct control_about *about);
bool control_put_set(struct control_message *message, const struct policy_set *set);
bool control_put_place(struct control_message *message, const struct control_place *place);
bool control_put_left(struct control_message *message, __u32 left);
bool control_put_store(struct control_message *message, const struct control_store *store);

/*
 * The messages of a datagram, one by one: the next one of *left bytes at *at, or NULL when no
 * whole message is left. (libmnl's own check of the length is signed: a length of more than 2^31
 * passes it.)
 */
const struct nlmsghdr *control_next(const char **at, size_t *left);

/* Called for each part of a message, in their order. NULL: a message with this part is refused. */
struct control_visitor {
	int (*on_rule)(const struct policy_rule *rule, const struct control_about *about,
		       void *data);
	int (*on_set)(const struct policy_set *set, void *data);
	int (*on_place)(const struct control_place *place, void *data);
	int (*on_left)(__u32 left, void *data);
	int (*on_store)(const struct control_store *store, void *data);
	void *data;
	struct policy_error *error;
};

/*
 * Read a message whose length was checked. What is given to the visitor is valid: it could have
 * been read from a policy file. A rule without priority has POLICY_PRIO_UNSAID. 0, -errno of the
 * first thing that is wrong, or the visitor's.
 */
int control_read(const struct nlmsghdr *header, const struct control_visitor *visitor);

#endif
