/* SPDX-License-Identifier: Apache-2.0 */
/* A start that waits for a policy that can be used. */
#ifndef CTXPROP_DAEMON_POLICY_WAIT_H
#define CTXPROP_DAEMON_POLICY_WAIT_H

#include "daemon/policies.h"

/*
 * After policies_read() has failed: read the file again when it has changed, or on SIGHUP, until it
 * can be used. `signal_fd`: of signalfd(2). 0, or -ECANCELED after a signal to end.
 */
int policy_wait(struct policies *policies, const char *file, int signal_fd);

#endif
