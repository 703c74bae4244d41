/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers of the profile are made in a sandbox (inspect/sandbox.h), one at a time: an hour of
 * windows may take much memory and time, of which the daemon has none to give away; and names and
 * labels in them come from strangers. It opens the windows, gives its rights up, and reads them.
 */
#ifndef CTXPROP_WEB_PROFILE_PROCESS_H
#define CTXPROP_WEB_PROFILE_PROCESS_H

#include "web/profile_answer.h"

/* What becomes of questions. */
enum profile_end {
	PROFILE_ANSWERED,
	PROFILE_BUSY,
	PROFILE_TOO_LONG,
	PROFILE_FAILED, /* the process has, or there could be none */
	PROFILE_ENDS
};

/*
 * Ask, and wait for the answer. 0, and `ret` is to be freed by profile_process_free(); -EBUSY:
 * another question is being answered; -ETIME: it would take too long; -EPERM: the process made a
 * system call that it may not make; -EIO: it has crashed; -EBADMSG: it makes no sense; -ENOSYS: it
 * could not give its rights up; or -errno.
 */
int profile_process_ask(const struct profile_question *question, struct profile_answer **ret);
void profile_process_free(struct profile_answer *answer);

/* How many questions have ended so, since the program began. For any thread. */
unsigned long profile_process_count(enum profile_end end);

#endif
