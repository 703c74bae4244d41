// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "control/policy_file.h"
#include "daemon/policy_memory.h"
#include "pins/texts.h"

#define TEXT "policy"
/* What stands before the policy: the stamp of the file, as a comment. */
#define STAMP_FORMAT "# upon %016llx\n"
#define STAMP_LENGTH 24

__u64 policy_memory_stamp(const char *text, size_t size)
{
	__u64 hash = 0xcbf29ce484222325ULL; /* FNV-1a */

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (__u64)(unsigned char)text[i]) * 0x100000001b3ULL;
	return hash;
}

int policy_memory_keep(const struct pins *pins, __u64 stamp, const struct policy *policy)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	if (!stream)
		return -ENOMEM;
	fprintf(stream, STAMP_FORMAT, (unsigned long long)stamp);
	policy_write(stream, policy);
	if (fclose(stream))
		return -ENOMEM;
	return texts_put(pins, TEXT, text);
}

int policy_memory_recall(const struct pins *pins, __u64 stamp, struct policy *ret,
			 struct policy_error *error)
{
	_cleanup_free_ char *text = NULL;
	char line[STAMP_LENGTH + 1];
	int err = texts_get(pins, TEXT, &text);

	if (err)
		return err == -ENOENT ? err : policy_fail(error, err, "%s", strerror(-err));
	snprintf(line, sizeof(line), STAMP_FORMAT, (unsigned long long)stamp);
	if (strncmp(text, line, STAMP_LENGTH) != 0)
		return -ESTALE;
	return policy_read(text, strlen(text), TEXT, ret, error);
}

void policy_memory_drop(const struct pins *pins)
{
	texts_drop(pins, TEXT);
}
