// SPDX-License-Identifier: Apache-2.0
/*
 * HTTP/2: of a connection that is made of the input all is told as it is, wherever it is cut; and
 * the input itself, taken for a connection, is read the same however it is cut.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct connection c;
	struct choices choices = {.bytes = data, .len = size}, cuts = {.bytes = data, .len = size};
	const char *wrong;

	connection_make(&c, &choices);
	wrong = check_connection(&c, &cuts);
	if (!wrong)
		wrong = check_bytes(data, size, &cuts);
	if (!wrong)
		return 0;
	fprintf(stderr, "http2: %s\n", wrong);
	abort();
}
