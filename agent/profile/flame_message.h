/* SPDX-License-Identifier: Apache-2.0 */
/* A message as a tree, as flame_new() makes it of samples. */
#ifndef CTXPROP_PROFILE_FLAME_MESSAGE_H
#define CTXPROP_PROFILE_FLAME_MESSAGE_H

#include "profile/message_path.h"

/* With or without endpoints as the first frames. NULL: no memory. */
struct flame *flame_of_message(const struct message_weight *weight, bool with_endpoint);

/* The unit of the widths of such a tree. */
enum flame_unit flame_unit_of(const struct message_weight *weight);

#endif
