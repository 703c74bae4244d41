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
 * Is a window over? They end where `window_s` divides the time, seen by the clock on the wall (ns
 * since 1970), and are never longer, whatever is done to that clock; `since_ns`: how long this one
 * lasts by another clock.
 */
bool pace_is_over(__s64 from_ns, __s64 now_ns, __u64 since_ns, unsigned int window_s);

/*
 * Its end in seconds since 1970, which is behind its begin: by the clock on the wall, or if that
 * was set meanwhile by how long the window was.
 */
__s64 pace_end_s(__s64 from_ns, __s64 now_ns, __u64 since_ns);

#endif
