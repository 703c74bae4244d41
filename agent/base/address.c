// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/address.h"

_Static_assert(ADDRESS_TEXT_MAX == INET6_ADDRSTRLEN, "an address fits");

bool address_is_ipv4(const __u8 address[16])
{
	static const __u8 mapped[12] = {[10] = 0xff, [11] = 0xff};

	return !memcmp(address, mapped, sizeof(mapped));
}

const char *address_text(char *buffer, const __u8 address[16])
{
	if (address_is_ipv4(address))
		inet_ntop(AF_INET, address + 12, buffer, ADDRESS_TEXT_MAX);
	else
		inet_ntop(AF_INET6, address, buffer, ADDRESS_TEXT_MAX);
	return buffer;
}

const char *address_endpoint(char *buffer, const __u8 address[16], __be16 port)
{
	char text[ADDRESS_TEXT_MAX];

	address_text(text, address);
	snprintf(buffer, ENDPOINT_TEXT_MAX, strchr(text, ':') ? "[%s]:%u" : "%s:%u", text,
		 ntohs(port));
	return buffer;
}
