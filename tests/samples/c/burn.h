/* SPDX-License-Identifier: Apache-2.0 */
/* What the servers in C burn CPU with, in functions whose names tell for which endpoint, and the
 * file of truth. */
#ifndef SAMPLES_BURN_H
#define SAMPLES_BURN_H

#define ID_MAX        32
#define SLICE_US      2000
#define PAUSE_US      2000
#define BACKGROUND_MS 20

/* Burn so many microseconds of the thread's CPU. */
void burn_a(unsigned us);
void burn_b(unsigned us);
void burn_background(unsigned us);

/* Open the file that the environment's TRUTH names; without it no truth is written. */
void truth_open(void);

/* Burn a slice for the request with this id, whose first letter is its endpoint, "-": for none;
 * says so in the truth. */
void burn_slice(const char *id);

#endif
