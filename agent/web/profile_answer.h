/* SPDX-License-Identifier: Apache-2.0 */
/* What is answered of the profile that the daemon keeps: a table as JSON, or a picture as SVG. */
#ifndef CTXPROP_WEB_PROFILE_ANSWER_H
#define CTXPROP_WEB_PROFILE_ANSWER_H

#include <stddef.h>

#include "profile/keep/windows.h"
#include "profile/message/message.h"
#include "web/profile_question.h"

#define PROFILE_ANSWER_MAX (16UL << 20)

struct profile_answer {
	unsigned int status; /* 200; else the text is a sentence about what went wrong */
	size_t size;         /* of the text, in bytes */
	char text[PROFILE_ANSWER_MAX];
};

/* Answer with a sentence. */
__attribute__((format(printf, 3, 4))) void
profile_answer_refuse(struct profile_answer *answer, unsigned int status, const char *format, ...);

/*
 * Get what profile_answer() has no right to get: the windows that are asked for. To be closed by
 * windows_close().
 */
void profile_answer_open(const struct profile_question *question, struct windows_opened *ret);

/*
 * Read the windows, and answer. It takes memory, as much as there is, and makes no other system
 * calls than sandbox_confine() leaves.
 */
void profile_answer(const struct profile_question *question, const struct windows_opened *opened,
		    struct profile_answer *ret);

/*
 * The endpoints of what was read. `message` is NULL if there was nothing: then there are none.
 */
void profile_answer_table(const struct windows_said *windows, const struct message *message,
			  struct profile_answer *ret);

/* A flame graph, or a difference of two, of what was read. */
void profile_answer_picture(const struct profile_question *question,
			    const struct windows_said *windows, struct message *message,
			    struct profile_answer *ret);

#endif
