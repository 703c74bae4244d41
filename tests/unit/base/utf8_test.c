// SPDX-License-Identifier: Apache-2.0
/* What is a character of UTF-8 and what is none (RFC 3629), as the C library sees it, too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <locale.h>
#include <stdio.h>
#include <wchar.h>

#include "base/utf8.h"

/* What the C library says of the first character; 0: it is none. */
static size_t length_by_libc(const char *text)
{
	mbstate_t state = {};
	wchar_t character;
	size_t length = mbrtowc(&character, text, strlen(text), &state);

	/* Surrogates, and what is above U+10FFFF, are no characters, whatever it says. */
	if (length > 4 || (character >= 0xd800 && character <= 0xdfff) || character > 0x10ffff)
		return 0;
	return length;
}

/* All first three bytes, with a good fourth one and without. */
static void lengths_are_those_of_libc(void **state)
{
	static const char *const ends[] = {"", "\x80", "\xbf\x80", "x"};

	(void)state;
	assert_non_null(setlocale(LC_ALL, "C.UTF-8"));
	for (unsigned int bytes = 1; bytes < 1U << 24; bytes += bytes < 0x10000 ? 1 : 7) {
		char text[8] = {(char)bytes, (char)(bytes >> 8), (char)(bytes >> 16)};

		for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
			strcpy(text + 3, ends[i]);
			if (text[0] && utf8_length(text) != length_by_libc(text))
				fail_msg("%06x and end %zu", bytes, i);
		}
	}
}

static void assert_line(const char *from, bool is_cut, const char *wanted)
{
	char text[32];

	strcpy(text, from);
	assert_int_equal(utf8_is_line(text, is_cut), wanted != NULL);
	if (wanted)
		assert_string_equal(text, wanted);
}

static void lines(void **state)
{
	(void)state;
	assert_line("", false, "");
	assert_line("gr\xc3\xb6\xc3\x9f", false, "gr\xc3\xb6\xc3\x9f");
	assert_line("a\xc2\xa0", false, "a\xc2\xa0");
	assert_line("a\nb", true, NULL);
	assert_line("a\x7f", true, NULL);
	assert_line("a\xc2\x9b\x33", false, NULL); /* CSI */
	assert_line("a\xe2\x82", false, NULL);
	assert_line("a\xe2\x82", true, "a");
	assert_line("a\xe2\x82\x62\x63", true, NULL); /* not at the end */
}

/* What turns the order of a line about, ends it, or is no character of Unicode. */
static bool is_left_out(__u32 c)
{
	static const __u32 left_out[] = {0x61c,  0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202b,
					 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069};

	for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++)
		if (c == left_out[i])
			return true;
	return c % 0x10000 >= 0xfffe;
}

/* All characters are those of the C library, and can be shown. */
static void encodes(void **state)
{
	(void)state;
	for (__u32 c = 0; c < 0x120000; c++) {
		char text[UTF8_MAX + 1] = "", wanted[16] = "?";
		mbstate_t shift = {};
		const size_t size = utf8_encode(c, text);

		if (c >= ' ' && (c < 0x7f || c >= 0xa0) && (c < 0xd800 || c > 0xdfff) &&
		    c <= 0x10ffff && !is_left_out(c))
			wanted[wcrtomb(wanted, (wchar_t)c, &shift)] = '\0';
		if (strcmp(text, wanted) != 0 || size != strlen(wanted) ||
		    !utf8_is_line(text, false))
			fail_msg("%06x", c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lengths_are_those_of_libc),
	    cmocka_unit_test(lines),
	    cmocka_unit_test(encodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
