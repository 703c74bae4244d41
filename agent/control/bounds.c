// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>

#include "base/list.h"
#include "control/bounds.h"

int bounds_add(struct bounds *bounds, struct policy_number number)
{
	struct policy_number *list = list_add(&bounds->number, &bounds->count, sizeof(*list));

	if (!list)
		return -ENOMEM;
	*list = number;
	return 0;
}

int bounds_add_range(struct bounds *bounds, struct policy_number first, struct policy_number last)
{
	int err = bounds_add(bounds, first);

	last.high += !++last.low;
	/* Behind the largest number there is nothing. */
	return err || (!last.high && !last.low) ? err : bounds_add(bounds, last);
}

static int compare(const void *left, const void *right)
{
	const struct policy_number *a = left, *b = right;

	if (a->high == b->high && a->low == b->low)
		return 0;
	return policy_reaches(a, b) ? -1 : 1;
}

void bounds_sort(struct bounds *bounds)
{
	size_t kept = 0;

	if (!bounds->count)
		return;
	qsort(bounds->number, bounds->count, sizeof(*bounds->number), compare);
	for (size_t i = 1; i < bounds->count; i++)
		if (compare(&bounds->number[kept], &bounds->number[i]) != 0)
			bounds->number[++kept] = bounds->number[i];
	bounds->count = kept + 1;
}

void bounds_free(struct bounds *bounds)
{
	free(bounds->number);
	*bounds = (struct bounds){};
}
