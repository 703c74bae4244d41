// SPDX-License-Identifier: Apache-2.0
/*
 * What HotSpot tells of itself, and by that where its code is, out of memory of strangers: reading
 * ends, and what is found are heaps of code as the sampler takes them. Input: what the tables may
 * have told, and the memory.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "runtimes/java/hotspot.h"

#define READS_MAX  (1U << 17) /* it is done once for a process */
#define SHIFT_BITS 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hotspot hotspot, opened;
	struct hotspot_tables tables;
	struct java_code code;

	if (size < sizeof(hotspot))
		return 0;
	memcpy(&hotspot, data, sizeof(hotspot));
	memory = (struct memory){data + sizeof(hotspot), size - sizeof(hotspot), 0, READS_MAX};
	if (!hotspot_code(&hotspot, &code) && code.segment_shift >= SHIFT_BITS)
		abort();
	tables = (struct hotspot_tables){hotspot.code_low, hotspot.code_high};
	memory.reads = 0;
	hotspot_open(-1, &tables, 0, &opened);
	return 0;
}
