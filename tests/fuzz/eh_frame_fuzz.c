// SPDX-License-Identifier: Apache-2.0
/* Call frame information of strangers' files: whatever it is, rows are within their room and in
 * order. */
#include <stdint.h>
#include <stdlib.h>

#include "profile/unwind/eh_frame.h"

#define ROOM 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct profile_row rows[ROOM];
	const struct eh_frame section = {data, size, 0x1000};
	long count = eh_frame_rows(&section, 0, rows, ROOM);

	if (count > ROOM)
		abort();
	for (long i = 1; i < count; i++)
		if (rows[i - 1].pc >= rows[i].pc)
			abort();
	return 0;
}
