/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of profile_burn: work of known length, and the record of who did it and when. */
#ifndef PROFILE_BURN_H
#define PROFILE_BURN_H

#include <stdint.h>

/* What a thread worked on, as the truth file tells it. */
struct work {
	const char *id;          /* of the request; "-": none */
	const char *traceparent; /* that it brought, "" if none */
	uint64_t serial;         /* counts this program's requests from 0 */
	uint64_t cpu_us;         /* CPU time that it takes */
};

/* Opens the truth file for appending; exits when that fails. */
void truth_open(const char *path);

/* Burns CPU in the calling thread and writes down the line "tgid tid start end id" (ns). */
void burn(const struct work *work);

/* A little work, 10 us to 10 ms of CPU: in a loop (burn_loop.c), or in libc (burn_sort.c). */
void burn_round(void);

/*
 * The writer of the self-test: publishes contexts itself, without ctxprop, and makes the mistake
 * that `fault` names once in ten requests ("none": never).
 */
void writer_open(const char *pin, const char *fault);

/* Called by burn() in the working thread. They do nothing unless writer_open() was called. */
void writer_begin(const struct work *work);
void writer_halfway(const struct work *work);
void writer_end(const struct work *work);

#endif
