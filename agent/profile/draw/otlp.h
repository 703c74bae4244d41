/* SPDX-License-Identifier: Apache-2.0 */
/* A profile as a message of OTLP (ProfilesData of profiles.v1development). */
#ifndef CTXPROP_PROFILE_DRAW_OTLP_H
#define CTXPROP_PROFILE_DRAW_OTLP_H

#include <stdio.h>

#include "profile/message/message.h"

/*
 * Write a profile for each type of values, the default one first. The labels trace_id and span_id
 * of a sample become its link, all others attributes. 0, -ENOMEM or -EIO.
 */
int otlp_profile_write(const struct message *message, FILE *out);

#endif
