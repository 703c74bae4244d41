// SPDX-License-Identifier: Apache-2.0
#include "base/hex.h"

char *hex_text(char *ret_text, const void *bytes, size_t size)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *byte = bytes;

	for (size_t i = 0; i < size; i++) {
		ret_text[2 * i] = digits[byte[i] >> 4];
		ret_text[2 * i + 1] = digits[byte[i] & 15];
	}
	ret_text[2 * size] = '\0';
	return ret_text;
}
