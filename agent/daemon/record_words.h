/* SPDX-License-Identifier: Apache-2.0 */
/* What --profile asks for. */
#ifndef CTXPROP_RECORD_WORDS_H
#define CTXPROP_RECORD_WORDS_H

#include <stdbool.h>

#define RECORD_HZ_MAX       99
#define RECORD_WINDOW_LEAST 5 /* seconds */

struct record_words {
	unsigned int hz; /* on each CPU; 0: nothing is recorded */
	bool off_cpu;
	unsigned int window_s;
};

/* Read "HZ[,off-cpu][,window=SECONDS]"; the last is for tests. 0 or -EINVAL. */
int record_words_parse(const char *words, struct record_words *ret);

#endif
