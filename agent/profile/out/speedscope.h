/* SPDX-License-Identifier: Apache-2.0 */
/* A profile for speedscope (https://www.speedscope.app/file-format-schema.json). */
#ifndef CTXPROP_PROFILE_OUT_SPEEDSCOPE_H
#define CTXPROP_PROFILE_OUT_SPEEDSCOPE_H

#include <stdio.h>

#include "profile/message.h"

/*
 * Write a group of profiles: one of all samples, and if they have endpoints one of each of them,
 * that with the most first. 0 or -ENOMEM.
 */
int speedscope_write(const struct message *message, FILE *out);

#endif
