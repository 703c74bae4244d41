/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of the exporter, and the lines in the log that tell of them. */
#ifndef CTXPROP_OTLP_TALLY_H
#define CTXPROP_OTLP_TALLY_H

#include <stdatomic.h>
#include <linux/types.h>

#include "otlp/otlp.h"

struct tally {
	atomic_ulong given, accepted, requests, retries;
	atomic_ulong lost[OTLP_LOSSES];
	/* Of the thread that sends. */
	unsigned long told; /* losses that the log knows of */
	__u64 tell_at_ns;
};

/* Count what was lost; and read all counts. From any thread. */
void tally_lose(struct tally *tally, enum otlp_loss loss, unsigned long count);
void tally_read(const struct tally *tally, struct otlp_counts *ret_counts);

/* Warn of what was lost since the last time; once a minute at most. `why`: the last answer. */
void tally_warn(struct tally *tally, const char *receiver, const char *why);

/* Tell all, at the end. */
void tally_tell(const struct tally *tally, const char *receiver);

#endif
