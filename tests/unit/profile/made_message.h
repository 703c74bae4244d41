/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of pprof for tests, sample by sample. */
#ifndef CTXPROP_TEST_MADE_MESSAGE_H
#define CTXPROP_TEST_MADE_MESSAGE_H

#include "profile/message/message.h"

#define MADE_MAX 64 /* samples, functions and comments of one */

/* Without samples; types are "samples" and "cpu", and "offcpu" with `waits`. */
struct message made_message(int64_t period_ns, bool waits);

/*
 * A sample of functions, the outermost first ("main;work"), with labels ("endpoint=GET /a;pid=7":
 * those of digits are numbers). `waited_ns`: for "offcpu". Returns its values.
 */
int64_t *made_sample(struct message *message, const char *stack, const char *labels, int64_t count,
		     int64_t waited_ns);
void made_comment(struct message *message, const char *text);

/* "main;work [labels] count cpu offcpu" of each sample, in order of these lines, by newlines. */
char *made_lines(const struct message *message);

/* As a file, and read of it again: whatever is wrong with it fails the test. */
struct message made_again(const struct message *message);

#endif
