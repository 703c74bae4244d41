// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/cleanup.h"
#include "profile/message_path.h"
#include "profile/out/otlp.h"
#include "profile/out/otlp_message.h"

#define PROFILE_ID 16

typedef Perftools__Profiles__Profile Pprof;
typedef Perftools__Profiles__Sample PprofSample;

/* The profile of one type of values. */
struct typed {
	struct otlp_dictionary *dictionary;
	const struct message *message;
	size_t type;
};

static void add_samples(const struct typed *typed, OtlpProfile *profile)
{
	const Pprof *pprof = typed->message->profile;

	profile->samples = otlp_take(typed->dictionary, pprof->n_sample * sizeof(OtlpSample *));
	for (size_t i = 0; profile->samples && i < pprof->n_sample; i++) {
		OtlpSample *sample;

		if (!pprof->sample[i]->value[typed->type])
			continue;
		sample = otlp_sample(typed->dictionary, pprof->sample[i],
				     pprof->sample[i]->value[typed->type]);
		if (!sample)
			return;
		profile->samples[profile->n_samples++] = sample;
	}
}

static void add_id(const struct typed *typed, OtlpProfile *profile)
{
	__u8 *id = otlp_take(typed->dictionary, PROFILE_ID);

	/* A profile without an id is allowed; one with half of it would be none. */
	if (!id || getrandom(id, PROFILE_ID, 0) != PROFILE_ID)
		return;
	profile->profile_id.data = id;
	profile->profile_id.len = PROFILE_ID;
}

static OtlpProfile *profile_of(const struct typed *typed)
{
	const Pprof *pprof = typed->message->profile;
	OtlpProfile *profile = otlp_take(typed->dictionary, sizeof(*profile));

	if (!profile)
		return NULL;
	opentelemetry__proto__profiles__v1development__profile__init(profile);
	profile->sample_type = otlp_value_type(typed->dictionary, pprof->sample_type[typed->type]);
	if (pprof->period_type)
		profile->period_type = otlp_value_type(typed->dictionary, pprof->period_type);
	profile->period = pprof->period;
	profile->time_unix_nano = (uint64_t)pprof->time_nanos;
	profile->duration_nano = (uint64_t)pprof->duration_nanos;
	add_id(typed, profile);
	add_samples(typed, profile);
	return profile;
}

/* The default one comes first: it is the one that is shown. */
static void add_profiles(struct otlp_dictionary *dictionary, const struct message *message,
			 OtlpScopeProfiles *scope)
{
	const size_t count = message->profile->n_sample_type;
	const size_t first = message_default_type(message);

	scope->profiles = otlp_take(dictionary, count * sizeof(OtlpProfile *));
	for (size_t i = 0; scope->profiles && i < count; i++) {
		const struct typed typed = {dictionary, message, i == 0 ? first : i - (i <= first)};

		scope->profiles[scope->n_profiles] = profile_of(&typed);
		scope->n_profiles += scope->profiles[scope->n_profiles] != NULL;
	}
}

static int write_packed(const OtlpData *data, FILE *out)
{
	size_t size =
	    opentelemetry__proto__profiles__v1development__profiles_data__get_packed_size(data);
	_cleanup_free_ __u8 *bytes = malloc(size ? size : 1);

	if (!bytes)
		return -ENOMEM;
	opentelemetry__proto__profiles__v1development__profiles_data__pack(data, bytes);
	return fwrite(bytes, 1, size, out) == size ? 0 : -EIO;
}

int otlp_profile_write(const struct message *message, FILE *out)
{
	OtlpData data = OPENTELEMETRY__PROTO__PROFILES__V1DEVELOPMENT__PROFILES_DATA__INIT;
	OtlpResourceProfiles resource =
	    OPENTELEMETRY__PROTO__PROFILES__V1DEVELOPMENT__RESOURCE_PROFILES__INIT;
	OtlpScopeProfiles scope =
	    OPENTELEMETRY__PROTO__PROFILES__V1DEVELOPMENT__SCOPE_PROFILES__INIT;
	Opentelemetry__Proto__Common__V1__InstrumentationScope ours =
	    OPENTELEMETRY__PROTO__COMMON__V1__INSTRUMENTATION_SCOPE__INIT;
	OtlpResourceProfiles *resources = &resource;
	OtlpScopeProfiles *scopes = &scope;
	struct otlp_dictionary *dictionary = otlp_dictionary_new(message);
	int err = -ENOMEM;

	if (!dictionary)
		return -ENOMEM;
	ours.name = "ctxprop";
	ours.version = CTXPROP_VERSION;
	scope.scope = &ours;
	add_profiles(dictionary, message, &scope);
	resource.n_scope_profiles = 1;
	resource.scope_profiles = &scopes;
	data.n_resource_profiles = 1;
	data.resource_profiles = &resources;
	data.dictionary = otlp_dictionary_message(dictionary);
	if (data.dictionary)
		err = write_packed(&data, out);
	otlp_dictionary_free(dictionary);
	return err;
}
