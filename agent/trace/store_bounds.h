/* SPDX-License-Identifier: Apache-2.0 */
/* Limits on the size and age of the store: rows beyond them are removed in small steps. */
#ifndef CTXPROP_STORE_BOUNDS_H
#define CTXPROP_STORE_BOUNDS_H

#include <stdbool.h>

#include "trace/store.h"

/*
 * Remove some of what is too old, or too much, at `now_wall_ns` (CLOCK_REALTIME). Returns 1 if
 * there is more of it, 0, or -EIO (sqlite3_errmsg()). `*ret_names`: rows of services were removed.
 */
int store_bounds_keep(sqlite3 *db, const struct store_limits *limits, __u64 now_wall_ns,
		      bool *ret_names);

/* The most bytes of the write-ahead log, which grows while a reader keeps it from being emptied. */
__u64 store_bounds_log(const struct store_limits *limits);

#endif
