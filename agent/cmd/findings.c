// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stdio.h>

#include "cmd/colour.h"
#include "cmd/findings.h"

static const char *const words[] = {
    [FINDING_OK] = "ok", [FINDING_NOTE] = "note", [FINDING_BAD] = "bad"};
static const enum colour colours[] = {
    [FINDING_OK] = COLOUR_GOOD, [FINDING_NOTE] = COLOUR_CAUTION, [FINDING_BAD] = COLOUR_BAD};

void findings_add(struct findings *findings, enum finding finding, const char *what,
		  const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	findings->bad |= finding == FINDING_BAD;
	if (findings->array) {
		json_array_append_new(findings->array,
				      json_pack("{ss, ss, ss}", "finding", words[finding], "what",
						what, "text", text));
		return;
	}
	colour_print(colours[finding], "%-5s", words[finding]);
	printf(" %-14s %s\n", what, text);
}
