/* SPDX-License-Identifier: Apache-2.0 */
/* When a recorder does what: pure arithmetic. */
#ifndef CTXPROP_PROFILE_KEEP_PACE_H
#define CTXPROP_PROFILE_KEEP_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#define PACE_PAUSE_MIN_MS 50
#define PACE_PAUSE_MAX_MS 500

/*
 * How long to wait until the ring is read again: half as long as before if more than an eighth of
 * it was full, else twice as long, within the two limits above.
 */
unsigned int pace_pause_ms(unsigned int before_ms, size_t bytes, size_t ring_bytes);

/*
 * Is a window over? Windows end at multiples of `window_s` of the real-time clock (ns since 1970),
 * but are never longer, even if that clock is set; `since_ns`: how long this one has lasted by
 * another clock.
 */
bool pace_is_over(__s64 from_ns, __s64 now_ns, __u64 since_ns, unsigned int window_s);

/*
 * Its end in seconds since 1970, which is always after its begin: by the real-time clock, or by the
 * length of the window if that clock was set meanwhile.
 */
__s64 pace_end_s(__s64 from_ns, __s64 now_ns, __u64 since_ns);

#endif
