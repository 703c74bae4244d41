/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that records a continuous profile. The daemon runs itself once more for it under the
 * name below (recorder_process.h), so that nothing that happens to one of them happens to the
 * other.
 */
#ifndef CTXPROP_PROFILE_KEEP_RECORDER_MAIN_H
#define CTXPROP_PROFILE_KEEP_RECORDER_MAIN_H

#include <stdbool.h>

/*
 * Its arguments: the words of --profile, the file of the store, and the level of the log as a
 * number. Its standard input is a pipe that ends with the daemon, and RECORD_COUNTS_FD is memory
 * with a struct recorder_counts.
 */
#define RECORD_NAME      "ctxprop-record"
#define RECORD_COUNTS_FD 3
enum { RECORD_WORDS = 1, RECORD_STORE, RECORD_LEVEL, RECORD_ARGUMENTS };

/*
 * Record until the daemon ends, or a signal asks for it: SIGTERM and SIGINT end it after what was
 * sampled is written, once the daemon has closed the pipe, for it has stored its last spans then.
 * Returns an exit status.
 */
int recorder_main(int argc, char **argv);

#endif
