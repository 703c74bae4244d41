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

bool filter_takes(const struct filter *filter, const struct stack *stack,
		  const struct profiled_request *request)
{
	if (filter->endpoint && !endpoint_fits(request->endpoint, filter->endpoint))
		return false;
	if (filter->trace && !is_of_trace(stack, filter->trace))
		return false;
	return !filter->has_latency || filter->latency[request->latency];
}
