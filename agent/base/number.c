// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

int number_parse(const char *text, unsigned long min, unsigned long max, unsigned long *ret)
{
	unsigned long value;
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	value = strtoul(text, &end, 10);
	if (*end)
		return -EINVAL;
	if (errno || value < min || value > max)
		return -ERANGE;
	*ret = value;
	return 0;
}

int size_parse(const char *text, __u64 min, __u64 max, __u64 *ret_bytes)
{
	static const char units[] = "KMGT";
	unsigned long long value;
	const char *unit;
	unsigned int shift;
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	value = strtoull(text, &end, 10);
	unit = *end ? strchr(units, *end) : NULL;
	if (*end && (!unit || end[1]))
		return -EINVAL;
	shift = unit ? 10 * (unsigned int)(unit - units + 1) : 0;
	if (errno || value > max >> shift || value << shift < min)
		return -ERANGE;
	*ret_bytes = value << shift;
	return 0;
}
