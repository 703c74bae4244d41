/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attributes of a service beside its name and container, named as OpenTelemetry's resource
 * attributes: a text of lines "key=value", each key once.
 */
#ifndef CTXPROP_TRACE_ATTRIBUTES_H
#define CTXPROP_TRACE_ATTRIBUTES_H

#include <stdbool.h>
#include <stddef.h>

#define ATTRIBUTES_MAX       768 /* bytes of such a text, with its NUL */
#define ATTRIBUTES_KEY_MAX   64
#define ATTRIBUTES_VALUE_MAX 256

/*
 * May users set this key? It has to begin with a letter, consist of lowercase letters, digits, "_",
 * "-" and ".", and be none of those that the agent sets itself (container.id, host.name,
 * telemetry.*).
 */
bool attributes_key_is_free(const char *key, size_t length);

/*
 * Add one, if its key is not there yet. The value comes in as
 * a foreign text (base/foreign.h). 0; -EEXIST;
 * -EINVAL: an empty value; -ENOSPC: no room, also for too long ones.
 */
int attributes_add(char text[ATTRIBUTES_MAX], const char *key, size_t key_length, const char *value,
		   size_t value_length);

/*
 * Read pairs in the form of OTEL_RESOURCE_ATTRIBUTES (commas between them, %XX in values), and add
 * those whose keys users may set. Everything else is ignored.
 */
void attributes_add_pairs(char text[ATTRIBUTES_MAX], const char *pairs);

/*
 * The next attribute. `at` points to the text, and behind what was read from then on. Returns
 * false when there is no more.
 */
struct attribute {
	const char *key, *value; /* not ended by NUL */
	size_t key_length, value_length;
};
bool attributes_next(const char **at, struct attribute *ret);

/* The value of a key into a buffer of that size, cut where it does not fit. 0 or -ENOENT. */
int attributes_get(const char *text, const char *key, char *ret_value, size_t size);

#endif
