// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <sys/random.h>
#include <linux/types.h>

#include "base/clock.h"
#include "base/hex.h"
#include "base/unsampled.h"

void unsampled_draw(char ret_field[UNSAMPLED_SIZE])
{
	char trace[HEX_TRACE], span[HEX_SPAN];
	__u64 id[3] = {};

	if (getrandom(id, sizeof(id), GRND_NONBLOCK) != sizeof(id))
		id[0] = id[2] = clock_now_ns();
	id[2] |= 1;
	snprintf(ret_field, UNSAMPLED_SIZE, "traceparent: 00-%s-%s-00",
		 hex_text(trace, id, 2 * sizeof(id[0])), hex_text(span, &id[2], sizeof(id[2])));
}
