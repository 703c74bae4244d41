// SPDX-License-Identifier: Apache-2.0
#include <stdbool.h>
#include <stdio.h>

#include "cmd/safe.h"

static bool is_control(char c)
{
	return (unsigned char)c < ' ' || c == 0x7f;
}

void safe_print(const char *text)
{
	for (; text && *text; text++)
		putchar(is_control(*text) ? '?' : *text);
}

void safe_make(char *text)
{
	for (; *text; text++)
		if (is_control(*text))
			*text = '?';
}
