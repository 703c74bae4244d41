/* SPDX-License-Identifier: Apache-2.0 */
/* When to try again what could not be delivered. Pure: the clock and chance come from outside. */
#ifndef CTXPROP_OTLP_RETRY_H
#define CTXPROP_OTLP_RETRY_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define RETRY_FIRST_MS 1000
#define RETRY_MOST_MS  30000
#define RETRY_AFTER_MS 3600000 /* an answer can ask for no longer wait than that */
#define RETRY_GIVE_UP  300000  /* so long after the first try, in ms */

#define RETRY_NEVER UINT32_MAX

/*
 * Milliseconds to wait after try number `tries` (1 is the first) has failed: twice as long after
 * each, up to RETRY_MOST_MS, and of that a part from a half to all of it, by `random`.
 */
uint32_t retry_wait_ms(unsigned int tries, uint32_t random);

/*
 * Milliseconds to wait after that try where the receiver asks for `asked_ms`, or for nothing
 * (RETRY_NEVER): it can ask for a longer wait than the usual one, never for a shorter one.
 */
uint32_t retry_pause_ms(uint32_t asked_ms, unsigned int tries, uint32_t random);

/*
 * Is it worth another try after `wait_ms`, when the first one began `age_ms` ago? A wait that the
 * receiver has asked for never is too long.
 */
bool retry_is_worth(uint64_t age_ms, uint32_t wait_ms, bool asked);

/*
 * The value of a Retry-After field (RFC 9110, 10.2.3), seconds or a date, as milliseconds from
 * `now`; RETRY_AFTER_MS at most. RETRY_NEVER: it is neither.
 */
uint32_t retry_after_ms(const char *value, time_t now);

#endif
