// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/hex.h"
#include "profile/filter.h"

static bool is_of_trace(const struct stack *stack, const char *digits)
{
	char id[HEX_TRACE];

	return stack_has_request(stack) &&
	       !strncmp(hex_text(id, stack->trace_id, sizeof(stack->trace_id)), digits,
			strlen(digits));
}

static bool has_labels(const struct filter *filter, long set)
{
	for (size_t i = 0; i < filter->labels; i++)
		if (!labels_fit(filter->known, set, filter->label[i]))
			return false;
	return true;
}

bool filter_takes(const struct filter *filter, const struct stack *stack,
		  const struct profiled_request *request)
{
	if (!has_labels(filter, stack->labels))
		return false;
	if (filter->endpoint && !endpoint_fits(request->endpoint, filter->endpoint))
		return false;
	if (filter->trace && !is_of_trace(stack, filter->trace))
		return false;
	return !filter->has_latency || filter->latency[request->latency];
}
