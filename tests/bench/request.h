/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CTXPROP_BENCH_REQUEST_H
#define CTXPROP_BENCH_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

/* Smallest head that request_build() can make. */
#define REQUEST_HEAD_MIN 120

/*
 * `copies` identical requests behind one another, each with a head of exactly `head` bytes and a
 * body of `body` bytes (0: GET, else POST). `last` asks the server to close the connection. Returns
 * heap memory of copies * (head + body) bytes that the caller frees; NULL without memory or with a
 * head below REQUEST_HEAD_MIN.
 */
char *request_build(size_t head, size_t body, size_t copies, bool last);

#endif
