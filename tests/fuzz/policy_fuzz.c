// SPDX-License-Identifier: Apache-2.0
/* Policy files: whatever is taken is written in a form that is taken again and written the same. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/policy_file.h"
#include "control/policy_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_text(const struct policy *policy, char **ret_text, size_t *ret_size)
{
	FILE *stream = open_memstream(ret_text, ret_size);

	if (!stream)
		abort();
	policy_write(stream, policy);
	fclose(stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct policy_error error = {};
	struct policy policy, again;
	char *text, *text_again;
	size_t length, length_again;

	if (!size || policy_read((const char *)data, size, "fuzz", &policy, &error))
		return 0;
	write_text(&policy, &text, &length);
	if (policy_read(text, length, "again", &again, &error)) {
		fprintf(stderr, "%s\nin: %s\n", error.text, text);
		abort();
	}
	write_text(&again, &text_again, &length_again);
	if (strcmp(text, text_again) != 0)
		abort();
	policy_clear(&policy);
	policy_clear(&again);
	free(text);
	free(text_again);
	return 0;
}
