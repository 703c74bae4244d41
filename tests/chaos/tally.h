/* SPDX-License-Identifier: Apache-2.0 */
/* How requests ended: counts, and the first failures in words. */
#ifndef CHAOS_TALLY_H
#define CHAOS_TALLY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum verdict {
	VERDICT_OK,
	VERDICT_CORRUPT,
	VERDICT_MISSING,
	VERDICT_DOUBLE,
	VERDICT_RESET,
	VERDICT_STUCK,
	VERDICT_SKIPPED,
	VERDICT_ABORTED, /* by the client itself, on purpose */
	VERDICT_COUNT,
};

struct tally {
	uint64_t counts[VERDICT_COUNT];
	uint64_t requests, injected, stall_ms;
	unsigned int told[VERDICT_COUNT];
};

/* Count a request; skipped ones count as ok too. */
void tally_request(struct tally *tally, enum verdict verdict);

/* Print a failure on stderr, unless enough of the kind were printed. `what` and `why` are parts of
 * a line. */
void tally_tell(struct tally *tally, enum verdict verdict, const char *what, const char *why);

/* True when nothing but ok was counted. */
bool tally_is_clean(const struct tally *tally);

/* The summary line. */
void tally_print(const struct tally *tally, double seconds, FILE *to);

#endif
