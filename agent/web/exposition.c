// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "web/exposition.h"

void exposition_family(const struct exposition *exposition, const struct family *family)
{
	const bool open = exposition->is_open_metrics;
	const char *end = !open && !strcmp(family->type, "counter") ? "_total" : "";
	struct buffer *out = exposition->out;

	buffer_printf(out, "# HELP %s%s %s\n", family->name, end, family->help);
	buffer_printf(out, "# TYPE %s%s %s\n", family->name, end, family->type);
	if (open && family->unit)
		buffer_printf(out, "# UNIT %s %s\n", family->name, family->unit);
}

/* Texts have come in by foreign.h: no line ends in one. */
static void add_label_value(struct buffer *out, const char *value)
{
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			buffer_add(out, "\\", 1);
		buffer_add(out, value, 1);
	}
}

void exposition_name(const struct exposition *exposition, const struct family *family,
		     const char *suffix, const struct label *labels, size_t count)
{
	struct buffer *out = exposition->out;
	const char *between = "{";

	buffer_printf(out, "%s%s", family->name, suffix);
	for (size_t i = 0; i < count; i++) {
		if (!*labels[i].value)
			continue;
		buffer_printf(out, "%s%s=\"", between, labels[i].name);
		add_label_value(out, labels[i].value);
		buffer_add(out, "\"", 1);
		between = ",";
	}
	buffer_printf(out, *between == ',' ? "} " : " ");
}

void exposition_value(const struct exposition *exposition, const struct family *family,
		      const char *suffix, const struct label *label, double value)
{
	exposition_name(exposition, family, suffix, label, label ? 1 : 0);
	buffer_printf(exposition->out, "%.15g\n", value);
}

void exposition_end(const struct exposition *exposition)
{
	if (exposition->is_open_metrics)
		buffer_printf(exposition->out, "# EOF\n");
}

/* How much an element of an Accept header is liked: 0 to 1. */
static double quality_of(const char *element, size_t length)
{
	const char *end = element + length, *at = memchr(element, ';', length);

	while (at) {
		at++;
		at += strspn(at, " \t");
		if (!strncasecmp(at, "q=", 2))
			return strtod(at + 2, NULL);
		at = at < end ? memchr(at, ';', (size_t)(end - at)) : NULL;
	}
	return 1;
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

static bool is_type(const char *element, const char *type)
{
	size_t length = strlen(type);

	return !strncasecmp(element, type, length) && strchr(";, \t", element[length]);
}

/* OpenMetrics has to be asked for by name: what takes everything may not know it. */
bool exposition_prefers_open_metrics(const char *accept)
{
	double open = 0, text = 0;

	while (accept && *accept) {
		size_t length;

		accept += strspn(accept, ", \t");
		length = strcspn(accept, ",");
		if (is_type(accept, "application/openmetrics-text"))
			open = larger(open, quality_of(accept, length));
		else if (is_type(accept, "text/plain"))
			text = larger(text, quality_of(accept, length));
		accept += length;
	}
	return open > 0 && open >= text;
}
