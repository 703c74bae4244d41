/* SPDX-License-Identifier: Apache-2.0 */
/* The server's answers. */
#ifndef CHAOS_ANSWER_H
#define CHAOS_ANSWER_H

#include "request.h"

/*
 * Append the head of the answer that the request asked for (with 103 Early Hints before it where
 * wanted) and set up `ret_body` for what follows. Returns true when the connection ends with it.
 */
bool answer_begin(const struct request *request, struct buffer *to, struct body_writer *ret_body);

/* Append an answer 400 that says what the server could not read. */
void answer_refusal(const char *why, struct buffer *to);

#endif
