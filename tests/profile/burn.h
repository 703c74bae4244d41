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

/* Writes down the line "tgid tid start end id" of the calling thread. ns, CLOCK_MONOTONIC. */
void truth_write(uint64_t start, uint64_t end, const char *id);
uint64_t truth_now(void);

/* Burns CPU in the calling thread and writes that down. */
void burn(const struct work *work);

/* A little work, 10 us to 10 ms of CPU: in a loop (burn_loop.c), or in libc (burn_sort.c). */
void burn_round(void);

/*
 * Sleeps, waits for a lock and sleeps under it, and asks an upstream server on the host at the
 * other end of `client`, each in a function of its own; writes down each stage as "ID.FUNCTION".
 */
void wait_around(const struct work *work, int client);

/* To be called before any work: what is to be done first by a program that goes on as this one. */
void adverse_open(char **argv);

/*
 * In the middle of a request whose work was burned, do what its path says:
 *     /exit     the thread ends
 *     /exec     the program becomes another one, which sleeps
 *     /again    the program becomes itself, burns for no request, and serves on
 *     /fork     a child burns as "ID.child", then as another program ("ID.exec"); so does the
 * thread /signals  the thread burns on; from now on its process has signals whose handlers burn,
 * too /wait     see wait_around()
 */
void adverse_act(const struct work *work, int client, const char *action);

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
