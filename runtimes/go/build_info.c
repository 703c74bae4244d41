// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "runtimes/go/build_info.h"

#define HEADER_SIZE   32
#define FLAGS         15
#define FLAG_IN_PLACE 2   /* the version stands behind the header: a length (varint), then text */
#define LENGTH_MAX    127 /* as long as the length is one byte */

int golang_build_minor(const __u8 *data, size_t size, unsigned int *ret_minor)
{
	static const char magic[] = "\xff Go buildinf:", prefix[] = "go1.";
	const __u8 *text = data + HEADER_SIZE + 1, *end;
	unsigned int minor = 0;

	if (size <= HEADER_SIZE || memcmp(data, magic, sizeof(magic) - 1) != 0 ||
	    !(data[FLAGS] & FLAG_IN_PLACE))
		return -EINVAL;
	end = text + data[HEADER_SIZE];
	if (data[HEADER_SIZE] > LENGTH_MAX || end > data + size ||
	    (size_t)(end - text) < sizeof(prefix) || memcmp(text, prefix, sizeof(prefix) - 1) != 0)
		return -EINVAL;
	for (text += sizeof(prefix) - 1; text < end && isdigit(*text) && minor < 1000; text++)
		minor = minor * 10 + (*text - '0');
	*ret_minor = minor;
	return minor ? 0 : -EINVAL;
}
