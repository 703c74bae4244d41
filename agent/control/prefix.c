// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/address.h"
#include "base/number.h"
#include "control/prefix.h"

#define IPV4_BITS 96 /* what stands before an IPv4 address */

/* Set the bits behind the prefix to 0. Were there any? */
static bool cut(struct policy_prefix *prefix)
{
	bool any = false;

	for (unsigned int byte = 0; byte < 16; byte++) {
		unsigned int first = byte * 8;
		__u8 mask = 0xff;

		if (prefix->bits <= first)
			mask = 0;
		else if (prefix->bits < first + 8)
			mask = (__u8)(0xff << (first + 8 - prefix->bits));
		any |= (prefix->address[byte] & ~mask) != 0;
		prefix->address[byte] &= mask;
	}
	return any;
}

/* Returns the bits that stand before the address, or -EINVAL. */
static int parse_address(const char *text, struct policy_prefix *ret)
{
	static const __u8 mapped[12] = {[10] = 0xff, [11] = 0xff};

	if (inet_pton(AF_INET6, text, ret->address) == 1)
		return 0;
	if (inet_pton(AF_INET, text, ret->address + 12) != 1)
		return -EINVAL;
	memcpy(ret->address, mapped, sizeof(mapped));
	return IPV4_BITS;
}

int prefix_parse(const char *text, struct policy_prefix *ret)
{
	const char *slash = strchr(text, '/');
	size_t length = slash ? (size_t)(slash - text) : strlen(text);
	char address[INET6_ADDRSTRLEN];
	unsigned long bits = 128;
	int before;

	if (length >= sizeof(address))
		return -EINVAL;
	memcpy(address, text, length);
	address[length] = '\0';
	*ret = (struct policy_prefix){};
	before = parse_address(address, ret);
	if (before < 0)
		return before;
	if (slash && number_parse(slash + 1, 0, 128UL - (unsigned long)before, &bits))
		return -EINVAL;
	ret->bits = (__u8)(slash ? bits + (unsigned long)before : 128);
	return cut(ret) ? -EDOM : 0;
}

bool prefix_is_ipv4(const struct policy_prefix *prefix)
{
	return prefix->bits >= IPV4_BITS && address_is_ipv4(prefix->address);
}

bool prefix_is_sound(const struct policy_prefix *prefix)
{
	struct policy_prefix copy = *prefix;

	return prefix->bits <= 128 && !cut(&copy);
}

const char *prefix_text(char *buffer, const struct policy_prefix *prefix)
{
	unsigned int bits = prefix->bits, whole = 128;
	size_t used;

	if (prefix_is_ipv4(prefix)) {
		bits -= IPV4_BITS;
		whole -= IPV4_BITS;
		inet_ntop(AF_INET, prefix->address + 12, buffer, POLICY_PREFIX_TEXT_MAX);
	} else {
		inet_ntop(AF_INET6, prefix->address, buffer, POLICY_PREFIX_TEXT_MAX);
	}
	used = strlen(buffer);
	if (bits != whole)
		snprintf(buffer + used, POLICY_PREFIX_TEXT_MAX - used, "/%u", bits);
	return buffer;
}
