/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics as text: OpenMetrics 1.0, or the older format of Prometheus (0.0.4), which has no units,
 * no examples and no end.
 */
#ifndef CTXPROP_EXPOSITION_H
#define CTXPROP_EXPOSITION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

struct exposition {
	struct buffer *out;
	bool is_open_metrics;
};

struct family {
	const char *name; /* of a counter: without _total */
	const char *type; /* "counter", "gauge" or "histogram" */
	const char *unit; /* the end of the name; NULL: none */
	const char *help;
};

struct label {
	const char *name, *value; /* an empty value is left out, as if there were no such label */
};

/* What comes before the samples of a family. */
void exposition_family(const struct exposition *exposition, const struct family *family);

/* A sample but for its value: name, suffix ("" or "_total" and the like) and labels. */
void exposition_name(const struct exposition *exposition, const struct family *family,
		     const char *suffix, const struct label *labels, size_t count);

/* A whole sample. */
void exposition_value(const struct exposition *exposition, const struct family *family,
		      const char *suffix, const struct label *label, double value);

/* What comes behind the last family. */
void exposition_end(const struct exposition *exposition);

/* Does an Accept header (NULL: there is none) prefer OpenMetrics to plain text? */
bool exposition_prefers_open_metrics(const char *accept);

#endif
