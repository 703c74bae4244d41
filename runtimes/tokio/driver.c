// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "runtime/driver.h"
#include "runtimes/tokio/tokio.h"

static int detect(const struct subject *subject, struct elf_image *image, struct classified *found)
{
	int err = tokio_inspect(image);

	(void)subject;
	if (!err)
		found->runtime.kind = RUNTIME_UNSEEN;
	return err;
}

static void describe(const struct classified *found, char *ret_text)
{
	(void)found;
	snprintf(ret_text, CLASSIFIED_TEXT_MAX,
		 "runs tasks of Rust (tokio, hyper): a call is only known while its request is the "
		 "only one of the process");
}

const struct runtime_driver tokio_driver = {
    .name = "Rust",
    .detect = detect,
    .describe = describe,
};
