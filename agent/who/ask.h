/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks the engine which threads and tasks of a process work on which request at this moment. Its
 * programs are loaded only while it is open.
 */
#ifndef CTXPROP_WHO_ASK_H
#define CTXPROP_WHO_ASK_H

#include <stddef.h>
#include <linux/types.h>

#include "who/who.h"

#define ASK_WHY_MAX 512

struct ask;

/* 0; or -errno, and what is wrong in `ret_why` (ASK_WHY_MAX). */
int ask_open(struct ask **ret_ask, char *ret_why);
void ask_close(struct ask *ask);

/* The processes that have to do with requests. To be freed. 0 or -errno. */
int ask_processes(const struct ask *ask, __u32 **ret_tgids, size_t *ret_count);

/*
 * All threads of a process, and its tasks that work on a request but run on no thread now. The
 * process runs meanwhile, so it is asked twice; where both answers differ, there is no request. To
 * be freed. 0, and nothing if it is gone; or -errno.
 */
int ask_process(struct ask *ask, __u32 tgid, struct who_told **ret_told, size_t *ret_count);

#endif
