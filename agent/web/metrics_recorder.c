// SPDX-License-Identifier: Apache-2.0
#include "web/metrics_recorder.h"

void metrics_recorder(const struct recorder_counts *counts, const struct exposition *exposition)
{
	static const struct family family = {
	    .name = "ctxprop_profile",
	    .type = "counter",
	    .help = "What became of the continuous profile; samples are counted by window."};
	const struct {
		const char *what;
		__u64 count;
	} rows[] = {
	    {"samples", counts->samples},
	    {"samples-of-requests", counts->of_requests},
	    {"incomplete", counts->incomplete},
	    {"waits", counts->waits},
	    {"lost", counts->lost},
	    {"left-out", counts->left_out},
	    {"windows", counts->windows},
	    {"removed", counts->removed},
	    {"failed", counts->failed},
	    {"renewed", counts->renewed},
	    {"unreadable", counts->unreadable},
	    {"starts", counts->starts},
	};

	exposition_family(exposition, &family);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct label label = {"what", rows[i].what};

		exposition_value(exposition, &family, "_total", &label, (double)rows[i].count);
	}
}
