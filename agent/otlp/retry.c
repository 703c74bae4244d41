// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <string.h>
#include <curl/curl.h>

#include "otlp/retry.h"

#define MS_PER_SECOND 1000

uint32_t retry_wait_ms(unsigned int tries, uint32_t random)
{
	uint32_t most = RETRY_FIRST_MS;

	while (tries-- > 1 && most < RETRY_MOST_MS)
		most *= 2;
	if (most > RETRY_MOST_MS)
		most = RETRY_MOST_MS;
	return most / 2 + random % (most / 2 + 1);
}

uint32_t retry_pause_ms(uint32_t asked_ms, unsigned int tries, uint32_t random)
{
	const uint32_t usual_ms = retry_wait_ms(tries, random);

	return asked_ms != RETRY_NEVER && asked_ms > usual_ms ? asked_ms : usual_ms;
}

bool retry_is_worth(uint64_t age_ms, uint32_t wait_ms, bool asked)
{
	return asked ? age_ms < RETRY_GIVE_UP : age_ms + wait_ms < RETRY_GIVE_UP;
}

/* Seconds from `now`; RETRY_NEVER: it is no such value. */
static uint32_t seconds_of(const char *value, time_t now)
{
	const uint32_t most = RETRY_AFTER_MS / MS_PER_SECOND;
	uint32_t seconds = 0;
	const char *at = value;
	time_t then;

	for (; isdigit((unsigned char)*at) && seconds < most; at++)
		seconds = seconds * 10 + (uint32_t)(*at - '0');
	at += strspn(at, "0123456789");
	if (at != value)
		return *at ? RETRY_NEVER : seconds;
	then = curl_getdate(value, NULL);
	if (then == -1)
		return RETRY_NEVER;
	if (then <= now)
		return 0;
	return then - now < (time_t)most ? (uint32_t)(then - now) : most;
}

uint32_t retry_after_ms(const char *value, time_t now)
{
	uint32_t seconds = seconds_of(value, now);

	if (seconds == RETRY_NEVER)
		return RETRY_NEVER;
	return seconds < RETRY_AFTER_MS / MS_PER_SECOND ? seconds * MS_PER_SECOND : RETRY_AFTER_MS;
}
