// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "profile/sample.h"
#include "profile/take/sources.h"

#define BIT(source) (1U << (source))

static const struct word {
	const char *word;
	__u32 sources;
} known[] = {
    {"otel", BIT(PROFILE_SOURCE_OTEL)},
    {"elastic", BIT(PROFILE_SOURCE_ELASTIC)},
    {"go", BIT(PROFILE_SOURCE_GO)},
    {"custom", BIT(PROFILE_SOURCE_CUSTOM)},
    {"registered", BIT(PROFILE_SOURCE_REGISTERED)},
    {"all", PROFILE_SOURCES_OWN},
};

const char *source_name(unsigned int source)
{
	switch (source) {
	case PROFILE_SOURCE_OTEL:
		return "otel_thread_ctx_v1";
	case PROFILE_SOURCE_ELASTIC:
		return "elastic_apm";
	case PROFILE_SOURCE_ENGINE:
		return "ctxprop";
	case PROFILE_SOURCE_TRACES:
		return "traces_ctx_v1";
	default:
		return "";
	}
}

static int without(const char *word, __u32 *sources)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(word, known[i].word) != 0)
			continue;
		*sources &= ~known[i].sources;
		return 0;
	}
	return -EINVAL;
}

int sources_without(const char *words, __u32 *sources)
{
	char copy[128], *rest, *word;

	if (!*words || strlen(words) >= sizeof(copy))
		return -EINVAL;
	text_copy(copy, sizeof(copy), words);
	for (word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
		if (without(word, sources))
			return -EINVAL;
	return 0;
}
