/* SPDX-License-Identifier: Apache-2.0 */
/* What the answer of a receiver of OTLP/HTTP means. */
#ifndef CTXPROP_OTLP_ANSWER_H
#define CTXPROP_OTLP_ANSWER_H

#include <stdbool.h>
#include <time.h>

#include "otlp/post.h"

struct answer {
	long status;             /* below 200: there was no answer */
	const char *retry_after; /* value of that field, or NULL */
	const __u8 *body;
	size_t size;
	bool sent;         /* all of the request may have arrived */
	bool whole;        /* the answer has come to its end */
	const char *error; /* what is told when there was no answer, or not all of it */
};

/* `now` is the time of the clock. */
void answer_judge(const struct answer *answer, time_t now, struct post_answer *ret_answer);

#endif
