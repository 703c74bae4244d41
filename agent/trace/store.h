/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store of spans: an SQLite database, written by one daemon and read by whoever may (WAL:
 * readers keep no writer waiting). Its schema is in docs/schema.md.
 */
#ifndef CTXPROP_STORE_H
#define CTXPROP_STORE_H

#include <linux/types.h>
#include <sqlite3.h>

#include "trace/connection.h"
#include "trace/span.h"

#define STORE_PATH    "/var/lib/ctxprop/ctxprop.db"
#define STORE_BYTES   (512ULL << 20)
#define STORE_SECONDS 86400

struct store_limits {
	__u64 bytes;   /* of the database; the oldest rows are removed first (see store_bounds.h) */
	__u64 seconds; /* how long spans are kept */
};

struct store;

/*
 * Open the store for writing, making it and its directory where they are missing. A file that is
 * damaged is moved aside (logged). -EBUSY: another daemon has it. 0 or -errno.
 */
int store_open(const char *path, const struct store_limits *limits, struct store **ret_store);

/*
 * A span, or a connection, that is there already is not stored again. What was added is there for
 * readers after store_flush() only. 0 or -errno: then all that was added since the last flush is
 * lost. That may take a fraction of a second, so do not try for each span; a warning is logged,
 * once a minute at most, and a line when spans are stored again.
 */
int store_add(struct store *store, const struct span *span, __s64 boot_to_wall_ns);
int store_add_connection(struct store *store, const struct connection *connection,
			 __s64 boot_to_wall_ns);

/*
 * Count a span of a trace that is not sampled by its endpoint and minute; store_add() does not
 * count such spans. As store_add() otherwise.
 */
int store_count(struct store *store, const struct span *span, __s64 boot_to_wall_ns);
int store_flush(struct store *store);

/*
 * Remove some rows that are too old or too many. If somebody has removed or replaced the file, make
 * it anew. Returns 1 if there is more to remove, 0 or -errno.
 */
int store_prune(struct store *store, __u64 now_wall_ns);

void store_close(struct store *store);

/* Open a store for reading only. NULL: it failed, and the reason is in `ret_why`. */
sqlite3 *store_open_to_read(const char *path, char *ret_why, size_t size);

#endif
