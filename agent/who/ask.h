/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asking the engine who is at work in a process at this moment, and on which request. Its programs
 * are loaded while it is open, and only then.
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
 * All threads of a process, and what else of it works on a request and runs on none of them. Nobody
 * stops it meanwhile: whom two looks do not tell the same of has no request. To be freed. 0; none
 * if it is gone; or -errno.
 */
int ask_process(struct ask *ask, __u32 tgid, struct who_told **ret_told, size_t *ret_count);

#endif
