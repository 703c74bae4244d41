/* SPDX-License-Identifier: Apache-2.0 */
/* Where lines of the log go: stderr, which nobody may be reading. */
#ifndef CTXPROP_LOG_OUTPUT_H
#define CTXPROP_LOG_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

/* What is written at once, or not at all. */
#define LOG_OUTPUT_MAX 4096

/*
 * Write up to LOG_OUTPUT_MAX bytes to stderr, without ever waiting for who reads a pipe, a socket
 * or a terminal. Returns false when there is no room for them now.
 */
bool log_output(const char *text, size_t size);

#endif
