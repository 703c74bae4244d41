// SPDX-License-Identifier: Apache-2.0
#include <stdbool.h>
#include <string.h>

#include "base/log.h"
#include "base/reason_names.h"
#include "daemon/losses.h"
#include "flows/counters.h"

/* Whom counts are told to. */
struct hearer {
	sink_tell *tell;
	void *to;
};

/*
 * Of all counts of spans, those of spans that were lost on the way to the store or to the receiver.
 */
static bool is_loss(const char *what)
{
	static const char otlp[] = "otlp-";

	return !strcmp(what, "not-stored") ||
	       (!strncmp(what, otlp, sizeof(otlp) - 1) && strcmp(what, "otlp-accepted") != 0);
}

static void pass_on(void *to, const char *what, unsigned long count)
{
	const struct hearer *hearer = to;

	if (is_loss(what))
		hearer->tell(hearer->to, what, count);
}

static void tell_losses(void *data, sink_tell *tell, void *to)
{
	const struct losses_source *source = data;
	struct hearer hearer = {tell, to};
	struct counters counters;

	tracer_counts(source->tracer, pass_on, &hearer);
	if (!counters_read(source->counters_fd, &counters))
		tell(to, reason_row(REASON_RECORD_LOST)->name, counters.count[REASON_RECORD_LOST]);
}

void losses_begin(struct losses_source *source, const struct otlp_options *receiver)
{
	char why[OTLP_WHY_MAX];

	if (loss_log_open(receiver, tell_losses, source, &source->log, why, sizeof(why)))
		log_warning("otlp-losses-failed", "losses are not reported by OTLP: %s", why);
}

void losses_end(struct losses_source *source)
{
	loss_log_close(source->log);
	source->log = NULL;
}
