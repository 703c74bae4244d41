// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "profile/keep/recorder.h"
#include "profile/keep/recorder_words.h"

/* Windows from one renewal of the tables to the next, where they count as full early. */
#define WINDOWS_APART 3

/* "KEY=NUMBER", the number from `least` to `most`. Returns whether it is that. */
static bool take_number(const char *word, const char *key, unsigned long least, unsigned long most,
			unsigned int *ret)
{
	const size_t length = strlen(key);
	unsigned long number;

	if (strncmp(word, key, length) != 0 || word[length] != '=' ||
	    number_parse(word + length + 1, least, most, &number))
		return false;
	*ret = (unsigned int)number;
	return true;
}

static int take_word(const char *word, struct recorder_words *ret)
{
	if (!strcmp(word, "off-cpu")) {
		ret->off_cpu = true;
		return 0;
	}
	if (take_number(word, "window", RECORD_WINDOW_LEAST, WINDOW_SECONDS, &ret->window_s))
		return 0;
	return take_number(word, "full", 1, RECORDER_FULL, &ret->full) ? 0 : -EINVAL;
}

int recorder_words_parse(const char *words, struct recorder_words *ret)
{
	struct recorder_words read = {
	    .window_s = WINDOW_SECONDS, .full = RECORDER_FULL, .renew_s = RECORDER_RENEW_S};
	char copy[64], *rest = copy;
	const char *word;
	unsigned long hz;

	if (strlen(words) >= sizeof(copy))
		return -EINVAL;
	text_copy(copy, sizeof(copy), words);
	if (number_parse(strsep(&rest, ","), 1, RECORD_HZ_MAX, &hz))
		return -EINVAL;
	read.hz = (unsigned int)hz;
	while ((word = strsep(&rest, ",")))
		if (take_word(word, &read))
			return -EINVAL;
	if (read.full < RECORDER_FULL)
		read.renew_s = WINDOWS_APART * read.window_s;
	*ret = read;
	return 0;
}
