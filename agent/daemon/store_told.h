/* SPDX-License-Identifier: Apache-2.0 */
/* Where the daemon stores spans, for commands that ask. */
#ifndef CTXPROP_STORE_TOLD_H
#define CTXPROP_STORE_TOLD_H

#include <limits.h>

#include "control/codec.h"

struct store_told {
	char path[PATH_MAX]; /* absolute; empty: there is no store */
};

/*
 * Take the path as it was said, relative to the folder that the daemon was started in; NULL: there
 * is none. 0 or -errno.
 */
int store_told_begin(struct store_told *told, const char *store);

/* Which file that is now. */
void store_told_now(const struct store_told *told, struct control_store *ret);

#endif
