// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>

#include "runtime/driver.h"
#include "runtimes/java/java.h"

static int detect(const struct subject *subject, struct elf_image *image, struct classified *found)
{
	struct runtime runtime;
	enum why why = WHY_NONE;
	int err = java_inspect(subject, &runtime, &why);

	(void)image;
	found->why = why;
	if (!err || err == -ENOTSUP)
		found->runtime = runtime;
	return err;
}

static void describe(const struct classified *found, char *ret_text)
{
	if (found->why == WHY_NONE)
		snprintf(ret_text, CLASSIFIED_TEXT_MAX, "following futures of Java");
}

/* Classes that are loaded later are nothing new, but that its objects can be looked at now is. */
static bool is_same(const struct runtime *known, const struct runtime *found)
{
	return !known->java.class == !found->java.class;
}

const struct runtime_driver java_driver = {
    .name = "Java",
    .wanted = java_wanted,
    .wanted_count = JAVA_WANTED,
    .detect = detect,
    .describe = describe,
    .is_same = is_same,
};
