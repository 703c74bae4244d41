// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <regex.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/text.h"
#include "trace/redact.h"

struct redact {
	regex_t pattern[REDACT_MAX];
	size_t count;
};

struct redact *redact_new(void)
{
	return calloc(1, sizeof(struct redact));
}

void redact_free(struct redact *redact)
{
	for (size_t i = 0; redact && i < redact->count; i++)
		regfree(&redact->pattern[i]);
	free(redact);
}

int redact_add(struct redact *redact, const char *pattern, char *ret_why, size_t size)
{
	regex_t *compiled = &redact->pattern[redact->count];
	int err;

	if (redact->count == REDACT_MAX)
		return -ENOSPC;
	err = regcomp(compiled, pattern, REG_EXTENDED);
	if (err) {
		regerror(err, compiled, ret_why, size);
		return -EINVAL;
	}
	if (!regexec(compiled, "", 0, NULL, 0)) {
		regfree(compiled);
		text_copy(ret_why, size, "It fits the empty text");
		return -EINVAL;
	}
	redact->count++;
	return 0;
}

/* The text behind a match; behind the next byte if the match is empty. */
static const char *take(struct buffer *out, const char *rest, const regmatch_t *match)
{
	bool is_empty = match->rm_eo == match->rm_so;

	buffer_add(out, rest, (size_t)match->rm_so + is_empty);
	if (!is_empty)
		buffer_add(out, REDACT_TEXT, strlen(REDACT_TEXT));
	return rest + match->rm_eo + is_empty;
}

static void replace(const regex_t *pattern, char *text, size_t size)
{
	struct buffer out = {};
	const char *rest = text;
	regmatch_t match;

	while (*rest && !regexec(pattern, rest, 1, &match, rest == text ? 0 : REG_NOTBOL) &&
	       rest[match.rm_so])
		rest = take(&out, rest, &match);
	if (rest != text) {
		buffer_add(&out, rest, strlen(rest));
		text_copy(text, size, out.failed ? REDACT_TEXT : out.text);
	}
	buffer_free(&out);
}

void redact_apply(const struct redact *redact, char *text, size_t size)
{
	for (size_t i = 0; i < redact->count; i++)
		replace(&redact->pattern[i], text, size);
}
