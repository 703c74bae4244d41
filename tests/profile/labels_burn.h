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

/* Burn for so many seconds, in LABELS_THREADS threads at once. Returns an exit status. */
int labels_burn(const struct labels_writer *writer, double seconds);

/* The same, with the seconds in argv[1]. */
int labels_main(const struct labels_writer *writer, int argc, char **argv);

#endif
