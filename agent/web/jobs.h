/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers that are made: those that take no time at once, the others by threads of their own, while
 * their connections are suspended.
 */
#ifndef CTXPROP_WEB_JOBS_H
#define CTXPROP_WEB_JOBS_H

#include <stdbool.h>

#include "web/request.h"
#include "web/server.h"

struct jobs;
struct job;

/* `options` outlive it. NULL: no memory. */
struct jobs *jobs_new(const struct web_options *options);

/*
 * All answers that are being made are given, and no more are made. False: some are not over after
 * `ms`; then all has to stay as it is. NULL is allowed.
 */
bool jobs_end(struct jobs *jobs, unsigned int ms);

/* After its end, and that of the last job. NULL is allowed. */
void jobs_free(struct jobs *jobs);

/* The answer to a GET of `path`, which stays as long as the connection. NULL: no memory. */
struct job *job_new(struct MHD_Connection *connection, const char *path);

/*
 * Make the answer. Returns whether it is there now; else the connection is suspended until it is.
 * `rivals`: of the same address, that wait, too. From the thread that serves the connection.
 */
bool job_begin(struct jobs *jobs, struct job *job, unsigned int rivals);

/* The answer; NULL: it is not there yet. */
struct reply *job_reply(struct job *job);

/* NULL is allowed. */
void job_free(struct job *job);

#endif
