// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "profile/keep/pace.h"

#define FULL 8 /* an eighth */

unsigned int pace_pause_ms(unsigned int before_ms, size_t bytes, size_t ring_bytes)
{
	const unsigned int pause_ms = bytes > ring_bytes / FULL ? before_ms / 2 : before_ms * 2;

	if (pause_ms < PACE_PAUSE_MIN_MS)
		return PACE_PAUSE_MIN_MS;
	return pause_ms > PACE_PAUSE_MAX_MS ? PACE_PAUSE_MAX_MS : pause_ms;
}

bool pace_is_over(__s64 from_ns, __s64 now_ns, __u64 since_ns, unsigned int window_s)
{
	const __u64 window_ns = window_s * NS_PER_SECOND;

	return since_ns >= window_ns ||
	       (now_ns > from_ns && (__u64)now_ns / window_ns != (__u64)from_ns / window_ns);
}

__s64 pace_end_s(__s64 from_ns, __s64 now_ns, __u64 since_ns)
{
	const __s64 second = (__s64)NS_PER_SECOND, from_s = from_ns / second;
	const __s64 reckoned_ns = from_ns + (__s64)since_ns, differs_ns = now_ns - reckoned_ns;
	const bool was_set = differs_ns > second || differs_ns < -second;
	const __s64 end_s = (was_set ? reckoned_ns : now_ns) / second;

	return end_s > from_s ? end_s : from_s + 1;
}
