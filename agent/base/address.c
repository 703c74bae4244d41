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

/* Returns the place behind the digits. */
static char *octet_text(char *to, __u8 octet)
{
	if (octet >= 100)
		*to++ = (char)('0' + octet / 100);
	if (octet >= 10)
		*to++ = (char)('0' + octet / 10 % 10);
	*to++ = (char)('0' + octet % 10);
	return to;
}

/* Of each span there are two: inet_ntop(3) takes several times as long. */
static void ipv4_text(char *to, const __u8 octets[4])
{
	for (int i = 0; i < 4; i++) {
		to = octet_text(to, octets[i]);
		*to++ = i < 3 ? '.' : '\0';
	}
}

const char *address_text(char *buffer, const __u8 address[16])
{
	if (address_is_ipv4(address))
		ipv4_text(buffer, address + 12);
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
