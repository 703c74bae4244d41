// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/message/counts.h"

static const char *const words[COUNT_KINDS] = {[COUNT_REQUESTS] = "#requests\t",
					       [COUNT_LOST] = "#lost\t",
					       [COUNT_SERVERS] = "#servers\t",
					       [COUNT_NO_REQUEST] = "#no_request\t"};

/* Decimal digits, up to a tab or the end. */
static int parse_number(const char *text, struct count *ret)
{
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	ret->count = strtoull(text, &end, 10);
	if (*end && *end != '\t')
		return -EINVAL;
	if (errno || ret->count > COUNTS_MAX)
		ret->count = COUNTS_MAX;
	ret->of = *end ? end + 1 : end;
	return 0;
}

int count_parse(const char *comment, struct count *ret)
{
	for (enum count_kind i = 0; i < COUNT_KINDS; i++) {
		const size_t length = strlen(words[i]);

		if (strncmp(comment, words[i], length) != 0)
			continue;
		ret->kind = i;
		if (parse_number(comment + length, ret))
			return -EINVAL;
		return (i == COUNT_REQUESTS) == (strchr(ret->of, '\t') != NULL) ? 0 : -EINVAL;
	}
	return -EINVAL;
}

char *count_text(const struct count *count)
{
	char *text;

	if (asprintf(&text, "%s%llu%s%s", words[count->kind], count->count, *count->of ? "\t" : "",
		     count->of) < 0)
		return NULL;
	return text;
}

static void without_controls(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = ' ';
}

char *count_of(const char *service, const char *endpoint)
{
	const size_t length = strlen(service);
	char *of;

	if (asprintf(&of, "%s\t%s", service, endpoint) < 0)
		return NULL;
	without_controls(of);
	of[length] = '\t';
	return of;
}

__u64 count_add(__u64 one, __u64 other)
{
	return one + other < COUNTS_MAX ? one + other : COUNTS_MAX;
}

void counts_keep(struct message *message, bool (*keeps)(const char *of, const void *data),
		 const void *data)
{
	Perftools__Profiles__Profile *profile = message->profile;
	size_t kept = 0;

	for (size_t i = 0; i < profile->n_comment; i++) {
		struct count count;

		if (!count_parse(message_text(message, profile->comment[i]), &count) &&
		    count.kind == COUNT_REQUESTS && !keeps(count.of, data))
			continue;
		profile->comment[kept++] = profile->comment[i];
	}
	profile->n_comment = kept;
}
