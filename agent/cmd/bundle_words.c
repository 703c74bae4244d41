// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/foreign.h"
#include "cmd/bundle_words.h"

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyz0123456789-"
#define HARMLESS_PATH   "/v1/traces"

/* What goes on behind the authority of a URL: nothing, its usual path, or something else. */
static const char *told_rest(const char *rest)
{
	if (!*rest || !strcmp(rest, "/") || !strcmp(rest, HARMLESS_PATH))
		return rest;
	return "/" BUNDLE_LEFT_OUT;
}

void bundle_word(const char *word, char *ret, size_t size)
{
	char clean[1024], whole[1024];
	const char *url, *authority, *host, *rest, *at;

	foreign_copy(clean, sizeof(clean), word);
	url = strstr(clean, "://");
	if (!url) {
		snprintf(ret, size, "%s", clean);
		return;
	}
	authority = url + 3;
	/* The last one: a password may have any character in it, by mistake. */
	at = strrchr(authority, '@');
	host = at ? at + 1 : authority;
	rest = host + strcspn(host, "/?# ");
	snprintf(whole, sizeof(whole), "%.*s%s%.*s%s", (int)(authority - clean), clean,
		 at ? BUNDLE_LEFT_OUT "@" : "", (int)(rest - host), host, told_rest(rest));
	snprintf(ret, size, "%s", whole);
}

bool bundle_is_option(char *line)
{
	size_t length;
	char *at = line + strspn(line, " \t");
	const char *name = at;

	at += strspn(at, NAME_CHARACTERS);
	if (at == name || at[strspn(at, " \t")] != '=')
		return false;
	for (at = line; (at = strchr(at, '#')); at++) {
		if (isspace((unsigned char)at[-1])) {
			*at = '\0';
			break;
		}
	}
	length = strlen(line);
	while (length && isspace((unsigned char)line[length - 1]))
		line[--length] = '\0';
	return true;
}
