// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "request.h"

/* Pads with one long field, as cookies do; the padding is what is left of `size`. */
static void write_head(char *at, size_t size, size_t body, bool last)
{
	const char *keep = last ? "Connection: close\r\n" : "";
	int used;

	if (body)
		used = snprintf(at, size,
				"POST /bench/item?id=17 HTTP/1.1\r\nHost: upstream.bench\r\n"
				"Content-Length: %zu\r\n%sCookie: p=",
				body, keep);
	else
		used = snprintf(at, size,
				"GET /bench/item?id=17 HTTP/1.1\r\nHost: upstream.bench\r\n"
				"Accept: */*\r\n%sCookie: p=",
				keep);
	memset(at + used, 'p', size - used - 4);
	memcpy(at + size - 4, "\r\n\r\n", 4);
}

char *request_build(size_t head, size_t body, size_t copies, bool last)
{
	size_t one = head + body;
	char *all;

	if (head < REQUEST_HEAD_MIN)
		return NULL;
	all = malloc(one * copies);
	if (!all)
		return NULL;
	write_head(all, head, body, last);
	memset(all + head, 'x', body);
	for (size_t i = 1; i < copies; i++)
		memcpy(all + i * one, all, one);
	return all;
}
