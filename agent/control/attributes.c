// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>

#include "control/attributes.h"

static bool is_text(const struct nlattr *attribute, __u16 max)
{
	const char *text = mnl_attr_get_payload(attribute);
	__u16 size = mnl_attr_get_payload_len(attribute);

	return size && size <= max && strnlen(text, size) == (size_t)size - 1;
}

/* Is the payload as the table says? */
static bool is_sound(const struct nlattr *attribute, const struct attribute *row)
{
	switch (row->kind) {
	case ATTRIBUTE_FLAG:
		return !mnl_attr_get_payload_len(attribute);
	case ATTRIBUTE_FIXED:
		return mnl_attr_get_payload_len(attribute) == row->size;
	case ATTRIBUTE_TEXT:
		return is_text(attribute, row->size);
	default:
		return true;
	}
}

static int check(const struct nlattr *attribute, const struct attribute_table *table, __u64 *seen,
		 struct policy_error *error)
{
	__u16 type = mnl_attr_get_type(attribute);
	const struct attribute *row = type < table->count ? &table->row[type] : NULL;

	if (!row || !row->name)
		return policy_fail(error, -EINVAL, "there is no attribute %u here", type);
	if (!row->repeated && *seen & 1ULL << type)
		return policy_fail(error, -EINVAL, "attribute '%s' comes twice", row->name);
	*seen |= 1ULL << type;
	if (!is_sound(attribute, row))
		return policy_fail(error, -ERANGE, "attribute '%s' has a payload of %u bytes%s",
				   row->name, mnl_attr_get_payload_len(attribute),
				   row->kind == ATTRIBUTE_TEXT ? " that are no text" : "");
	return 0;
}

int attributes_each(const void *bytes, size_t size, const struct attribute_table *table,
		    int (*visit)(const struct nlattr *attribute, void *data), void *data,
		    struct policy_error *error)
{
	const char *end = (const char *)bytes + size;
	const struct nlattr *attribute = bytes;
	__u64 seen = 0;
	int err = 0;

	while (!err && (const char *)attribute < end) {
		if (!mnl_attr_ok(attribute, (int)(end - (const char *)attribute)))
			return policy_fail(error, -EINVAL, "an attribute is cut off");
		err = check(attribute, table, &seen, error);
		if (!err)
			err = visit(attribute, data);
		attribute = mnl_attr_next(attribute);
	}
	return err;
}
