/* SPDX-License-Identifier: Apache-2.0 */
/* A policy's text in memory. After <cmocka.h>. */
#ifndef UNIT_POLICY_STRING_H
#define UNIT_POLICY_STRING_H

#include <stdio.h>

#include "control/policy_text.h"

/* What policy_write() writes; to be freed. */
static inline char *policy_string(const struct policy *policy)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	assert_non_null(stream);
	policy_write(stream, policy);
	fclose(stream);
	return text;
}

#endif
