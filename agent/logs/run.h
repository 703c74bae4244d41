/* SPDX-License-Identifier: Apache-2.0 */
/* Run a program, and pass its output on with the ids of the requests that it is written for. */
#ifndef CTXPROP_LOGS_RUN_H
#define CTXPROP_LOGS_RUN_H

#include <stddef.h>

#include "logs/line.h"

struct run;

/*
 * Prepare. `ret_why` says why lines cannot get ids, and is empty if they can; they are passed on as
 * they are then. 0 or -errno.
 */
int run_open(struct run **ret_run, char *ret_why, size_t size);
void run_close(struct run *run);

/*
 * Run `argv` until it ends. Its output and errors go where those of the caller do; where both are
 * one file they stay in their order. See program.h for signals. 0 or -errno.
 */
int run_program(struct run *run, const char *const *argv);

/* What became of the lines. */
void run_counts(const struct run *run, struct line_counts *ret_counts);

/* End as the program did (program_end_alike()). */
int run_end_alike(const struct run *run);

#endif
