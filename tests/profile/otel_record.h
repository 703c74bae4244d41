/* SPDX-License-Identifier: Apache-2.0 */
/* The thread context of OTEP 4947, written only from the published layout. */
#ifndef PROFILE_OTEL_RECORD_H
#define PROFILE_OTEL_RECORD_H

#include <stdint.h>

struct otel_record {
	uint8_t trace_id[16], span_id[8];
	uint8_t valid, trace_flags;
	uint16_t attributes_size;
	uint8_t attributes[612];
};
_Static_assert(sizeof(struct otel_record) == 640, "published layout");

#endif
