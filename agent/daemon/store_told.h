/* SPDX-License-Identifier: Apache-2.0 */
/* The path of the daemon's store, for commands that ask for it. */
#ifndef CTXPROP_STORE_TOLD_H
#define CTXPROP_STORE_TOLD_H

#include <limits.h>

#include "control/codec.h"

struct store_told {
	char path[PATH_MAX]; /* absolute; empty: there is no store */
};

/*
 * Note the path, which may be relative to the folder in which the daemon was started; NULL: there
 * is no store. 0 or -errno.
 */
int store_told_begin(struct store_told *told, const char *store);

/* Which file that is now. */
void store_told_now(const struct store_told *told, struct control_store *ret);

#endif
