/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that burn CPU in functions whose names say which label they have meanwhile: thread N in
 * burn_N with the label of N, and in between in burn_plain without one. labels.py knows that.
 */
#ifndef PROFILE_LABELS_BURN_H
#define PROFILE_LABELS_BURN_H

#define LABELS_THREADS 4
#define LABELS_BURN_US 3000

/* Set what thread `n` (from 0 on) is labelled with; take it away. */
struct labels_writer {
	void (*begin)(int n);
	void (*set)(int n);
	void (*clear)(int n);
};

/*
 * Burn for so many seconds, in LABELS_THREADS threads at once. Returns an exit status. The
 * environment PROFILE_LABELS_HOW says what is otherwise:
 *     threads  each thread ends with its label, and another one follows
 *     signals  handlers of signals burn, too (signals.h)
 */
int labels_burn(const struct labels_writer *writer, double seconds);

/* The same, with the seconds in argv[1]. */
int labels_main(const struct labels_writer *writer, int argc, char **argv);

/* Burn in the calling thread for so many seconds: in burn_N, or in burn_plain. */
void labels_burn_thread(int n, double seconds);
void labels_burn_plain(double seconds);

/* CLOCK_MONOTONIC in seconds. */
double labels_now(void);

#endif
