/* SPDX-License-Identifier: Apache-2.0 */
/* Locations, functions and mappings of an OTLP profile: those that samples refer to, and no others.
 */
#ifndef CTXPROP_PROFILE_OUT_OTLP_CODE_H
#define CTXPROP_PROFILE_OUT_OTLP_CODE_H

#include "profile/out/otlp_message.h"

struct otlp_code;

/* Both outlive it; it lives as long as the dictionary. NULL: no memory. */
struct otlp_code *otlp_code_new(struct otlp_dictionary *dictionary, const struct message *message);

/* The number of a location of the message, whose id is `location`, in OTLP's table. */
int32_t otlp_location(struct otlp_code *code, __u64 location);

/* The tables, when all samples were added; 0 or -ENOMEM. */
int otlp_code_finish(struct otlp_code *code, OtlpDictionary *message);

#endif
