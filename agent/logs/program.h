/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program: passes signals on to it, and returns its exit status. */
#ifndef CTXPROP_LOGS_PROGRAM_H
#define CTXPROP_LOGS_PROGRAM_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct program {
	pid_t pid;
	int signal_fd;   /* to be polled: see program_news() */
	sigset_t before; /* signals that the caller had blocked */
	bool ended;
	int status; /* as waitpid(2) has it */
};

/*
 * Start `argv` with these descriptors as its output and errors, and signals as the caller has them.
 * From then on signals of the caller are read from `signal_fd`. A program that is not there ends
 * with status 127, one that cannot be run with 126, after a complaint. 0 or -errno.
 */
int program_start(struct program *ret_program, const char *const *argv, int out_fd, int errors_fd);

/*
 * Signals have come: send on those that another process has sent (those of a terminal go to the
 * program anyway), and see whether it has ended. `data` is the program.
 */
void program_news(void *data);

/* End as the program did: by the same signal, or return the exit status for the caller to use. */
int program_end_alike(const struct program *program);

#endif
