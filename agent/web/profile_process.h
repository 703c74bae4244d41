/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers of the profile are made in a process of its own, one at a time: an hour of windows may
 * take much memory and time, of which the daemon has none to give away.
 */
#ifndef CTXPROP_WEB_PROFILE_PROCESS_H
#define CTXPROP_WEB_PROFILE_PROCESS_H

#include "web/profile_answer.h"

/*
 * Ask, and wait for the answer. 0, and `ret` is to be freed by profile_process_free(); -EBUSY:
 * another question is being answered; -ETIME: it would take too long; -EIO: the process has failed;
 * or -errno.
 */
int profile_process_ask(const struct profile_question *question, struct profile_answer **ret);
void profile_process_free(struct profile_answer *answer);

#endif
