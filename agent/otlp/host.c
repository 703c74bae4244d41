// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>

#include "base/number.h"
#include "otlp/host.h"

int host_split(const char *host, char *ret_name, size_t size, unsigned int *ret_port)
{
	const char *begin = *host == '[' ? host + 1 : host;
	size_t length = strcspn(begin, *host == '[' ? "]" : ":");
	const char *rest = begin + length;
	unsigned long port = HTTP_PORT;

	if (*host == '[' && *rest++ != ']')
		return -EINVAL;
	if (!length || (*rest && *rest != ':'))
		return -EINVAL;
	/* "example.com:" is allowed, and means the usual port (RFC 3986, 3.2.3). */
	if (*rest && rest[1] && number_parse(rest + 1, 1, 65535, &port))
		return -EINVAL;
	if (length >= size)
		length = size - 1;
	memcpy(ret_name, begin, length);
	ret_name[length] = '\0';
	*ret_port = (unsigned int)port;
	return 0;
}
