// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/foreign.h"
#include "trace/attributes.h"

static bool is_equal(const char *text, size_t length, const char *to)
{
	return strlen(to) == length && !memcmp(text, to, length);
}

bool attributes_key_is_free(const char *key, size_t length)
{
	static const char telemetry[] = "telemetry.";

	if (!length || length >= ATTRIBUTES_KEY_MAX || !islower((unsigned char)*key))
		return false;
	for (size_t i = 0; i < length; i++)
		if (!islower((unsigned char)key[i]) && !isdigit((unsigned char)key[i]) &&
		    !strchr("_-.", key[i]))
			return false;
	return !is_equal(key, length, "container.id") && !is_equal(key, length, "host.name") &&
	       strncmp(key, telemetry, sizeof(telemetry) - 1) != 0;
}

bool attributes_next(const char **at, struct attribute *ret)
{
	const char *end = strchr(*at, '\n'), *equals = strchr(*at, '=');

	if (!end || !equals || equals > end)
		return false;
	*ret = (struct attribute){.key = *at,
				  .key_length = (size_t)(equals - *at),
				  .value = equals + 1,
				  .value_length = (size_t)(end - equals - 1)};
	*at = end + 1;
	return true;
}

static bool find(const char *text, const char *key, size_t length, struct attribute *ret)
{
	while (attributes_next(&text, ret))
		if (ret->key_length == length && !memcmp(ret->key, key, length))
			return true;
	return false;
}

int attributes_add(char text[ATTRIBUTES_MAX], const char *key, size_t key_length, const char *value,
		   size_t value_length)
{
	char *end = text + strlen(text), clean[ATTRIBUTES_VALUE_MAX];
	struct attribute there;

	if (!value_length)
		return -EINVAL;
	if (find(text, key, key_length, &there))
		return -EEXIST;
	if (key_length >= ATTRIBUTES_KEY_MAX || value_length >= ATTRIBUTES_VALUE_MAX)
		return -ENOSPC;
	value_length = foreign_copy_bytes(clean, sizeof(clean), value, value_length);
	/* "=", the end of the line, NUL. */
	if ((size_t)(end - text) + key_length + value_length + 3 > ATTRIBUTES_MAX)
		return -ENOSPC;
	memcpy(end, key, key_length);
	end += key_length;
	*end++ = '=';
	memcpy(end, clean, value_length);
	end += value_length;
	*end++ = '\n';
	*end = '\0';
	return 0;
}

static int digit(char c)
{
	if (isdigit((unsigned char)c))
		return c - '0';
	return isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10 : -1;
}

/* Without %XX. Returns the bytes; 0 for what is no such text, or too long. */
static size_t decode(const char *text, size_t length, char ret[ATTRIBUTES_VALUE_MAX])
{
	size_t used = 0;

	for (size_t i = 0; i < length; i++) {
		char c = text[i];

		if (c == '%') {
			int high = i + 3 <= length ? digit(text[i + 1]) : -1;
			int low = i + 3 <= length ? digit(text[i + 2]) : -1;

			if (high < 0 || low < 0)
				return 0;
			c = (char)(high << 4 | low);
			i += 2;
		}
		if (used == ATTRIBUTES_VALUE_MAX)
			return 0;
		ret[used++] = c;
	}
	return used;
}

static void add_pair(char text[ATTRIBUTES_MAX], const char *pair, size_t length)
{
	const char *equals = memchr(pair, '=', length);
	char value[ATTRIBUTES_VALUE_MAX];
	size_t key_length = equals ? (size_t)(equals - pair) : 0, value_length;

	if (!attributes_key_is_free(pair, key_length))
		return;
	value_length = decode(equals + 1, length - key_length - 1, value);
	attributes_add(text, pair, key_length, value, value_length);
}

/* Without the blanks around it. */
static void trim(const char **text, size_t *length)
{
	while (*length && isblank((unsigned char)**text)) {
		(*text)++;
		(*length)--;
	}
	while (*length && isblank((unsigned char)(*text)[*length - 1]))
		(*length)--;
}

void attributes_add_pairs(char text[ATTRIBUTES_MAX], const char *pairs)
{
	while (*pairs) {
		const char *pair = pairs;
		size_t whole = strcspn(pairs, ","), length = whole;

		trim(&pair, &length);
		add_pair(text, pair, length);
		pairs += whole + (pairs[whole] == ',');
	}
}

int attributes_get(const char *text, const char *key, char *ret_value, size_t size)
{
	struct attribute found;
	size_t length;

	if (!find(text, key, strlen(key), &found))
		return -ENOENT;
	length = found.value_length < size ? found.value_length : size - 1;
	memcpy(ret_value, found.value, length);
	ret_value[length] = '\0';
	return 0;
}
