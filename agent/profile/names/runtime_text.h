/* SPDX-License-Identifier: Apache-2.0 */
/* What readers of names tell of a function: "FUNCTION\nFILE" or "FUNCTION\nFILE\nLINE". */
#ifndef CTXPROP_PROFILE_NAMES_RUNTIME_TEXT_H
#define CTXPROP_PROFILE_NAMES_RUNTIME_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/* The parts of such a text, in which `function` and `file` have no NUL behind them. */
struct runtime_text {
	const char *function, *file;
	size_t function_length, file_length;
	__u32 line; /* the first one of the function; 0: not known */
};

/*
 * Take a text of `size` bytes apart. Returns whether it is one: with its NUL, in UTF-8, without
 * other control characters, with a function. It may come from a process that was taken over.
 */
bool runtime_text_parse(const char *text, size_t size, struct runtime_text *ret);

#endif
