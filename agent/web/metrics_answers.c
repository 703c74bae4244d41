// SPDX-License-Identifier: Apache-2.0
#include "web/metrics_answers.h"
#include "web/profile_process.h"

static const char *const names[] = {
    [PROFILE_ANSWERED] = "answered",
    [PROFILE_BUSY] = "busy",
    [PROFILE_TOO_LONG] = "too-long",
    [PROFILE_FAILED] = "failed",
};
_Static_assert(sizeof(names) / sizeof(names[0]) == PROFILE_ENDS, "every end has a name");

void metrics_answers(const struct exposition *exposition)
{
	static const struct family family = {.name = "ctxprop_profile_answers",
					     .type = "counter",
					     .help = "Queries of the recorded profile, by result."};

	exposition_family(exposition, &family);
	for (enum profile_end end = 0; end < PROFILE_ENDS; end++) {
		const struct label label = {"what", names[end]};

		exposition_value(exposition, &family, "_total", &label,
				 (double)profile_process_count(end));
	}
}
