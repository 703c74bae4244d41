/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attributes of messages that anybody may have sent: each is checked against a table before its
 * payload is read. Unknown types, payloads of a wrong size, repetitions and trailing bytes are
 * refused.
 */
#ifndef CTXPROP_CONTROL_ATTRIBUTES_H
#define CTXPROP_CONTROL_ATTRIBUTES_H

#include <libmnl/libmnl.h>

#include "control/policy_types.h"

enum attribute_kind {
	ATTRIBUTE_FLAG,   /* no payload */
	ATTRIBUTE_FIXED,  /* exactly `size` bytes */
	ATTRIBUTE_TEXT,   /* a terminated text of at most `size` bytes with its end */
	ATTRIBUTE_NESTED, /* further attributes */
};

/* One row of a table; row number = type. Without a name: there is no such type. */
struct attribute {
	const char *name;
	enum attribute_kind kind;
	__u16 size;
	bool repeated;
};

struct attribute_table {
	const struct attribute *row;
	__u16 count;
};

/*
 * Check `size` bytes of attributes and give each to `visit`. Stops at the first that is wrong, or
 * for which `visit` does not return 0. 0 or -errno.
 */
int attributes_each(const void *bytes, size_t size, const struct attribute_table *table,
		    int (*visit)(const struct nlattr *attribute, void *data), void *data,
		    struct policy_error *error);

#endif
