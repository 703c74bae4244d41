/* SPDX-License-Identifier: Apache-2.0 */
#include "tally.h"

#include <inttypes.h>

#define TOLD_MAX 10

static const char *const names[] = {
    [VERDICT_OK] = "ok",           [VERDICT_CORRUPT] = "corrupt", [VERDICT_MISSING] = "missing",
    [VERDICT_DOUBLE] = "double",   [VERDICT_RESET] = "reset",     [VERDICT_STUCK] = "stuck",
    [VERDICT_SKIPPED] = "skipped", [VERDICT_ABORTED] = "aborted",
};

void tally_request(struct tally *tally, enum verdict verdict)
{
	tally->requests++;
	tally->counts[verdict]++;
	if (verdict == VERDICT_SKIPPED)
		tally->counts[VERDICT_OK]++;
}

void tally_tell(struct tally *tally, enum verdict verdict, const char *what, const char *why)
{
	unsigned int told = tally->told[verdict]++;

	if (told < TOLD_MAX)
		fprintf(stderr, "%s: %s: %s\n", names[verdict], why, what);
	else if (told == TOLD_MAX)
		fprintf(stderr, "%s: further ones are only counted\n", names[verdict]);
}

bool tally_is_clean(const struct tally *tally)
{
	for (int i = VERDICT_CORRUPT; i <= VERDICT_STUCK; i++) {
		if (tally->counts[i])
			return false;
	}
	return true;
}

void tally_print(const struct tally *tally, double seconds, FILE *to)
{
	fprintf(to, "requests=%" PRIu64, tally->requests);
	for (int i = 0; i < VERDICT_COUNT; i++)
		fprintf(to, " %s=%" PRIu64, names[i], tally->counts[i]);
	fprintf(to, " injected=%" PRIu64 " stall=%.1f seconds=%.1f\n", tally->injected,
		(double)tally->stall_ms / 1000, seconds);
}
