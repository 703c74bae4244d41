/* SPDX-License-Identifier: Apache-2.0 */
/* Messages are strangers' files: everything that one refers to has to be there. */
#ifndef CTXPROP_PROFILE_MESSAGE_CHECK_H
#define CTXPROP_PROFILE_MESSAGE_CHECK_H

#include "profile/message.h"

/*
 * Check a message, and number its mappings, locations and functions by their places. Returns 0,
 * -ENOMEM, or -EINVAL with the reason in `ret_why`.
 */
int message_check(struct message *message, char *ret_why);

#endif
