/* SPDX-License-Identifier: Apache-2.0 */
/* `ctxpropd --check`: is everything that the daemon would read as it should be? */
#ifndef CTXPROP_DAEMON_CHECK_H
#define CTXPROP_DAEMON_CHECK_H

#include "daemon/options.h"

/*
 * Read the policy and the files that options name. What is fine is printed to stdout, what is wrong
 * to stderr, one line each. Returns how much is wrong, with what was wrong in the file of options.
 */
unsigned int check_run(const struct options *options);

#endif
