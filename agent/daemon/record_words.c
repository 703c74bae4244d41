// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "daemon/record_words.h"
#include "profile/windows.h"

static int take_word(const char *word, struct record_words *ret)
{
	static const char window[] = "window=";
	unsigned long seconds;

	if (!strcmp(word, "off-cpu")) {
		ret->off_cpu = true;
		return 0;
	}
	if (strncmp(word, window, sizeof(window) - 1) != 0 ||
	    number_parse(word + sizeof(window) - 1, RECORD_WINDOW_LEAST, WINDOW_SECONDS, &seconds))
		return -EINVAL;
	ret->window_s = (unsigned int)seconds;
	return 0;
}

int record_words_parse(const char *words, struct record_words *ret)
{
	struct record_words read = {.window_s = WINDOW_SECONDS};
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
	*ret = read;
	return 0;
}
