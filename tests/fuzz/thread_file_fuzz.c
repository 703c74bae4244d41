// SPDX-License-Identifier: Apache-2.0
/* Thread-local variables of strangers' files: what is said of them are addresses from the base on.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "profile/take/thread_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct thread_file file;
	uint8_t *bytes = malloc(size ? size : 1); /* without a byte more, for the sanitizer */
	struct elf_image *image;

	if (!bytes)
		return 0;
	memcpy(bytes, data, size);
	if (!elf_image_open_bytes(bytes, size, &image)) {
		file = (struct thread_file){.symbol = {"errno", "tenant"}};
		thread_file_find(image, &file);
		/* Nothing that is not looked for is found. */
		if (file.variable[THREAD_REGISTERED + 2].defined)
			abort();
		elf_image_close(image);
	}
	free(bytes);
	return 0;
}
