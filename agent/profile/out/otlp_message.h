/* SPDX-License-Identifier: Apache-2.0 */
/* The tables that the samples of an OTLP profile refer to, made of a message of pprof. */
#ifndef CTXPROP_PROFILE_OUT_OTLP_MESSAGE_H
#define CTXPROP_PROFILE_OUT_OTLP_MESSAGE_H

#include <stdbool.h>

#include "opentelemetry/proto/profiles/v1development/profiles.pb-c.h"
#include "profile/message.h"

typedef Opentelemetry__Proto__Profiles__V1development__ProfilesData OtlpData;
typedef Opentelemetry__Proto__Profiles__V1development__ProfilesDictionary OtlpDictionary;
typedef Opentelemetry__Proto__Profiles__V1development__ResourceProfiles OtlpResourceProfiles;
typedef Opentelemetry__Proto__Profiles__V1development__ScopeProfiles OtlpScopeProfiles;
typedef Opentelemetry__Proto__Profiles__V1development__Profile OtlpProfile;
typedef Opentelemetry__Proto__Profiles__V1development__Sample OtlpSample;
typedef Opentelemetry__Proto__Profiles__V1development__ValueType OtlpValueType;

struct otlp_dictionary;

/* The message outlives it. NULL: no memory. */
struct otlp_dictionary *otlp_dictionary_new(const struct message *message);
void otlp_dictionary_free(struct otlp_dictionary *dictionary);

/* Memory that lives as long as the dictionary, all zero. NULL: no memory. */
void *otlp_take(struct otlp_dictionary *dictionary, size_t size);

/* The number of a text of the message in the table of texts; 0, and a failure, if there is no
 * memory. */
int32_t otlp_text(struct otlp_dictionary *dictionary, __s64 number);

/* Parts of a profile, by the numbers of the tables, to which they are added. NULL: no memory. */
OtlpValueType *otlp_value_type(struct otlp_dictionary *dictionary,
			       const Perftools__Profiles__ValueType *type);
OtlpSample *otlp_sample(struct otlp_dictionary *dictionary,
			const Perftools__Profiles__Sample *sample, __s64 value);

/*
 * The tables, when all samples were added, as long as the dictionary lives. NULL: there was no
 * memory for one of the parts.
 */
OtlpDictionary *otlp_dictionary_message(struct otlp_dictionary *dictionary);

#endif
