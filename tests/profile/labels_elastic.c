// SPDX-License-Identifier: Apache-2.0
/* The thread context of Elastic APM's agents, written only from the published layout. */
#include <stdint.h>
#include <string.h>

#include "labels_burn.h"

struct record {
	uint16_t minor;
	uint8_t valid, present, flags;
	uint8_t trace_id[16], span_id[8], transaction_id[8];
} __attribute__((packed));
_Static_assert(sizeof(struct record) == 37, "published layout");

__thread struct record *elastic_apm_profiling_correlation_tls_v1;
static __thread struct record mine;

static void begin(int n)
{
	mine = (struct record){.minor = 1, .valid = 1};
	memset(mine.trace_id, 0xa0 + n, sizeof(mine.trace_id));
	memset(mine.span_id, 0xb0 + n, sizeof(mine.span_id));
	elastic_apm_profiling_correlation_tls_v1 = &mine;
}

static void set(int n)
{
	(void)n;
	mine.present = 1;
}

static void clear(int n)
{
	(void)n;
	mine.present = 0;
}

int main(int argc, char **argv)
{
	static const struct labels_writer writer = {begin, set, clear};

	return labels_main(&writer, argc, argv);
}
