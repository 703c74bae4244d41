// SPDX-License-Identifier: Apache-2.0
/*
 * The blocking C applications: read a request, work, answer.
 *
 * MODE s: the thread that read the request calls, one after the other; t: a new thread each, one
 * after the other; p: new threads, all at once; f: a child process each, one after the other.
 */
#ifndef ACCURACY_BLOCKING_H
#define ACCURACY_BLOCKING_H

#include <stdbool.h>

/* Serves a connection until its client closes it, or one request if `once`; closes fd. */
void serve_connection(int fd, bool once);

#endif
