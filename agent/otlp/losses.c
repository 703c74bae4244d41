// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/text.h"
#include "otlp/losses.h"

void losses_note(struct losses *losses, const char *reason, unsigned long count)
{
	struct loss *loss;

	for (size_t i = 0; i < losses->count; i++)
		if (!strcmp(losses->loss[i].reason, reason)) {
			losses->loss[i].count = count;
			return;
		}
	if (losses->count == LOSSES_MAX)
		return;
	loss = &losses->loss[losses->count++];
	*loss = (struct loss){.count = count, .told = count};
	text_copy(loss->reason, sizeof(loss->reason), reason);
}

size_t losses_due(struct losses *losses, __u64 now_ns, struct loss *ret_due[LOSSES_MAX])
{
	size_t due = 0;

	for (size_t i = 0; i < losses->count; i++)
		if (losses->loss[i].count > losses->loss[i].told &&
		    now_ns >= losses->loss[i].tell_at_ns)
			ret_due[due++] = &losses->loss[i];
	return due;
}

void losses_tried(struct loss *loss, __u64 now_ns, bool arrived)
{
	if (arrived)
		loss->told = loss->count;
	loss->tell_at_ns = now_ns + LOSSES_PERIOD_NS;
}
