// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "otlp/tally.h"

#define WARN_NS (60 * NS_PER_SECOND)

#define LOSS_NAME(id, name) name,
static const char *const loss_names[] = {OTLP_LOSSES_TABLE(LOSS_NAME)};

const char *otlp_loss_name(enum otlp_loss loss)
{
	return loss_names[loss];
}

void tally_lose(struct tally *tally, enum otlp_loss loss, unsigned long count)
{
	atomic_fetch_add(&tally->lost[loss], count);
}

void tally_read(const struct tally *tally, struct otlp_counts *ret_counts)
{
	ret_counts->given = atomic_load(&tally->given);
	ret_counts->accepted = atomic_load(&tally->accepted);
	ret_counts->requests = atomic_load(&tally->requests);
	ret_counts->retries = atomic_load(&tally->retries);
	for (int i = 0; i < OTLP_LOSSES; i++)
		ret_counts->lost[i] = atomic_load(&tally->lost[i]);
}

static unsigned long sum(const struct otlp_counts *counts)
{
	unsigned long lost = 0;

	for (int i = 0; i < OTLP_LOSSES; i++)
		lost += counts->lost[i];
	return lost;
}

/* " (queue-full 3, refused 2)"; nothing if nothing was lost. */
static const char *losses_text(const struct otlp_counts *counts, char *buffer, size_t size)
{
	size_t used = 0;

	*buffer = '\0';
	for (int i = 0; i < OTLP_LOSSES && used < size; i++)
		if (counts->lost[i])
			used +=
			    (size_t)snprintf(buffer + used, size - used, "%s%s %lu",
					     used ? ", " : " (", loss_names[i], counts->lost[i]);
	if (used && used < size)
		snprintf(buffer + used, size - used, ")");
	return buffer;
}

void tally_warn(struct tally *tally, const char *receiver, const char *why)
{
	struct otlp_counts counts;
	__u64 now_ns = clock_now_ns();
	char text[256];

	tally_read(tally, &counts);
	if (sum(&counts) == tally->told || now_ns < tally->tell_at_ns)
		return;
	log_warning("otlp-lost", "spans for %s: %lu lost%s%s%s", receiver, sum(&counts),
		    losses_text(&counts, text, sizeof(text)), *why ? "; last answer: " : "", why);
	tally->told = sum(&counts);
	tally->tell_at_ns = now_ns + WARN_NS;
}

void tally_tell(const struct tally *tally, const char *receiver)
{
	struct otlp_counts counts;
	char text[256];

	tally_read(tally, &counts);
	log_info(
	    "otlp-total",
	    "spans for %s: %lu given, %lu accepted, %lu lost%s; %lu requests, %lu of them retries",
	    receiver, counts.given, counts.accepted, sum(&counts),
	    losses_text(&counts, text, sizeof(text)), counts.requests, counts.retries);
}
