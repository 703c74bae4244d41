/* SPDX-License-Identifier: Apache-2.0 */
/* What --profile asks for. */
#ifndef CTXPROP_PROFILE_KEEP_RECORDER_WORDS_H
#define CTXPROP_PROFILE_KEEP_RECORDER_WORDS_H

#include <stdbool.h>

#define RECORD_HZ_MAX       99
#define RECORD_WINDOW_LEAST 5 /* seconds */

struct recorder_words {
	unsigned int hz; /* on each CPU; 0: nothing is recorded */
	bool off_cpu;
	unsigned int window_s;
	unsigned int full, renew_s; /* as RECORDER_FULL and RECORDER_RENEW_S (recorder.h) */
};

/*
 * Read "HZ[,off-cpu][,window=SECONDS][,full=PERCENT]". With less than RECORDER_FULL per cent,
 * tables may be made anew as often as every third window. 0 or -EINVAL.
 */
int recorder_words_parse(const char *words, struct recorder_words *ret);

#endif
