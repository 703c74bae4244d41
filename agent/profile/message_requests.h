/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a message that people begin with: what requests cost. */
#ifndef CTXPROP_PROFILE_MESSAGE_REQUESTS_H
#define CTXPROP_PROFILE_MESSAGE_REQUESTS_H

#include "profile/message.h"

/* Does a sample belong to a request? */
bool message_is_of_request(const struct message *message,
			   const Perftools__Profiles__Sample *sample);

/* How many samples do. */
size_t message_of_requests(const struct message *message);

/* Are there samples that do, and others? Only then there is something to leave out. */
bool message_is_mixed(const struct message *message);

/* The samples that do, or all if none does; as message_part(). */
int message_requests(struct message *message, struct message *ret);

#endif
