// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "trace/connection_rows.h"
#include "trace/minutes.h"
#include "trace/place.h"
#include "trace/schema.h"
#include "trace/service_rows.h"
#include "trace/store.h"

#define BUSY_MS       2000   /* another writer can only be somebody's own command */
#define PRUNE_ROWS    20000  /* at once: some tens of milliseconds */
#define ENDPOINT_ROWS 200000 /* of the table `endpoints`: some tens of megabytes */

struct store {
	char *path;
	struct store_limits limits;
	int lock_fd;
	sqlite3 *db;
	sqlite3_stmt *insert;
	struct service_rows *services;
	struct connection_rows *connections;
	struct minutes *minutes;
	bool in_transaction, warned;
};

static const char insert_sql[] =
    "INSERT OR IGNORE INTO spans (trace_id, span_id, parent_id, kind, start_ns, duration_ns, "
    "first_byte_ns, "
    "service_id, method, path, route, host, user_agent, status, outcome, error, local_address, "
    "local_port, remote_address, remote_port, netns, pid, tid, request_bytes, response_bytes, "
    "reused, forwarded, header, evidence, veto, socket_cookie, position, taken_ns) VALUES "
    "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";

static const char *const outcomes[] = {
    [RECORD_ANSWERED] = "answered", [RECORD_CLOSED] = "closed", [RECORD_RESET] = "reset"};

/* What SQLite has against something, as -errno. */
static int error_of(sqlite3 *db)
{
	switch (sqlite3_errcode(db)) {
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return -EUCLEAN;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_NOMEM:
		return -ENOMEM;
	default:
		return -EIO;
	}
}

static int run(struct store *store, const char *sql)
{
	return sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0
									   : error_of(store->db);
}

/* One daemon at a time writes; the lock outlives a file that is moved aside. */
static int take_lock(struct store *store)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s-lock", store->path);
	store->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (store->lock_fd < 0)
		return -errno;
	return flock(store->lock_fd, LOCK_EX | LOCK_NB) ? -EBUSY : 0;
}

/* The directory of a file, if it is missing; not those above it. */
static int make_directory(const char *path)
{
	_cleanup_free_ char *directory = strdup(path);
	char *slash = directory ? strrchr(directory, '/') : NULL;

	if (!directory)
		return -ENOMEM;
	if (!slash || slash == directory)
		return 0;
	*slash = '\0';
	return mkdir(directory, 0700) && errno != EEXIST ? -errno : 0;
}

static int prepare(struct store *store)
{
	if (sqlite3_prepare_v3(store->db, insert_sql, -1, SQLITE_PREPARE_PERSISTENT, &store->insert,
			       NULL) != SQLITE_OK ||
	    service_rows_new(store->db, &store->services) ||
	    connection_rows_new(store->db, &store->connections) ||
	    minutes_new(store->db, &store->minutes))
		return error_of(store->db);
	return 0;
}

static void close_database(struct store *store)
{
	sqlite3_finalize(store->insert);
	service_rows_free(store->services);
	connection_rows_free(store->connections);
	minutes_free(store->minutes);
	sqlite3_close(store->db);
	store->insert = NULL;
	store->services = NULL;
	store->connections = NULL;
	store->minutes = NULL;
	store->db = NULL;
	store->in_transaction = false;
}

/* Paths and hosts of requests are nobody else's business; what SQLite adds gets the same mode. */
static int make_file(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	return fd < 0 ? -errno : 0;
}

static int open_database(struct store *store)
{
	const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
	int err = make_file(store->path);

	if (err)
		return err;
	if (sqlite3_open_v2(store->path, &store->db, flags, NULL) != SQLITE_OK)
		return store->db ? error_of(store->db) : -ENOMEM;
	sqlite3_busy_timeout(store->db, BUSY_MS);
	/* The first two hold for new files only, and have to come first. */
	err =
	    run(store, "PRAGMA auto_vacuum = INCREMENTAL;"
		       "PRAGMA journal_mode = WAL;"
		       "PRAGMA synchronous = NORMAL;"
		       "PRAGMA cache_size = -8192;" /* KiB: ids are written all over their index */
		       "PRAGMA journal_size_limit = 16777216;"
		       "PRAGMA temp_store = MEMORY");
	if (!err)
		err = schema_bring_up(store->db);
	if (err == -EIO)
		err = error_of(store->db);
	return err ? err : prepare(store);
}

/* A damaged file may still be of use to somebody. */
static int move_aside(struct store *store)
{
	static const char *const endings[] = {"-wal", "-shm"};
	char aside[PATH_MAX], part[PATH_MAX];

	snprintf(aside, sizeof(aside), "%s-damaged-%lld", store->path, (long long)time(NULL));
	if (rename(store->path, aside))
		return -errno;
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		snprintf(part, sizeof(part), "%s%s", store->path, endings[i]);
		unlink(part);
	}
	log_warning("the store %s is damaged: moved to %s, a new one begins", store->path, aside);
	return 0;
}

static int begin_anew(struct store *store)
{
	int err;

	close_database(store);
	err = move_aside(store);
	return err ? err : open_database(store);
}

int store_open(const char *path, const struct store_limits *limits, struct store **ret_store)
{
	struct store *store = calloc(1, sizeof(*store));
	int err;

	if (!store)
		return -ENOMEM;
	store->lock_fd = -1;
	store->limits = *limits;
	store->path = strdup(path);
	err = store->path ? make_directory(path) : -ENOMEM;
	if (!err)
		err = take_lock(store);
	if (!err)
		err = open_database(store);
	if (err == -EUCLEAN)
		err = begin_anew(store);
	if (err)
		store_close(store);
	else
		*ret_store = store;
	return err;
}

void store_close(struct store *store)
{
	if (!store)
		return;
	if (store->db)
		store_flush(store);
	close_database(store);
	cleanup_close(&store->lock_fd);
	free(store->path);
	free(store);
}

static void bind_ids(sqlite3_stmt *insert, int *place, const struct span *span)
{
	sqlite3_bind_blob(insert, ++*place, span->trace_id, sizeof(span->trace_id), SQLITE_STATIC);
	sqlite3_bind_blob(insert, ++*place, &span->span_id, sizeof(span->span_id), SQLITE_STATIC);
	if (span->parent_id)
		sqlite3_bind_blob(insert, ++*place, &span->parent_id, sizeof(span->parent_id),
				  SQLITE_STATIC);
	else
		sqlite3_bind_null(insert, ++*place);
}

static void bind_why(sqlite3_stmt *insert, int *place, const struct span *span)
{
	struct span_cause cause = span_cause(span);

	place_text(insert, place, cause.header);
	place_text(insert, place, cause.evidence);
	place_text(insert, place, cause.veto);
}

/* What is bound points into `span` and `texts`. */
static void bind_span(sqlite3_stmt *insert, const struct span *span, struct end_texts *texts,
		      sqlite3_int64 service, __s64 boot_to_wall_ns)
{
	const struct ends ends = {span->local, span->remote, span->local_port, span->remote_port,
				  span->netns};
	int place = 0;

	bind_ids(insert, &place, span);
	place_number(insert, &place, span->kind);
	place_number(insert, &place, span->start_ns + (__u64)boot_to_wall_ns);
	place_number(insert, &place, span->end_ns - span->start_ns);
	place_known(insert, &place,
		    span->first_ns > span->start_ns ? span->first_ns - span->start_ns : 0);
	place_number(insert, &place, (__u64)service);
	place_text(insert, &place, span->method);
	place_text(insert, &place, span->path);
	place_text(insert, &place, span->route);
	place_text(insert, &place, span->host);
	place_text(insert, &place, span->agent);
	place_known(insert, &place, span->status);
	place_text(insert, &place, outcomes[span->outcome]);
	place_number(insert, &place, span_is_error(span));
	place_ends(insert, &place, &ends, texts);
	place_known(insert, &place, span->tgid);
	place_known(insert, &place, span->tid);
	place_known(insert, &place, span->request_size);
	place_known(insert, &place, span->response_size);
	place_number(insert, &place, span->is_reused);
	place_number(insert, &place, span->is_forwarded);
	bind_why(insert, &place, span);
	place_known(insert, &place, span->cookie);
	place_number(insert, &place, span->position);
	place_known(insert, &place,
		    span->taken_ns > span->start_ns ? span->taken_ns - span->start_ns : 0);
}

static int begin(struct store *store)
{
	int err = store->in_transaction ? 0 : run(store, "BEGIN");

	store->in_transaction |= !err;
	return err;
}

static int insert(struct store *store, const struct span *span, __s64 boot_to_wall_ns)
{
	sqlite3_int64 service = service_rows_id(store->services, span->tgid, &span->service);
	struct end_texts texts;
	int err = 0;

	if (!service)
		return error_of(store->db);
	bind_span(store->insert, span, &texts, service, boot_to_wall_ns);
	if (sqlite3_step(store->insert) != SQLITE_DONE)
		err = error_of(store->db);
	else if (sqlite3_changes(store->db)) /* it was not there before */
		minutes_add(store->minutes, span, service, (__s64)span->end_ns + boot_to_wall_ns);
	sqlite3_reset(store->insert);
	return err;
}

/* What was not stored is lost, and the next one is tried again. */
static int failed(struct store *store, int err)
{
	if (!store->warned)
		log_warning("the store %s: %s; spans are lost until that is over (said once)",
			    store->path, sqlite3_errmsg(store->db));
	store->warned = true;
	if (store->in_transaction)
		run(store, "ROLLBACK");
	store->in_transaction = false;
	service_rows_forget(store->services);
	minutes_forget(store->minutes);
	if (err == -EUCLEAN)
		begin_anew(store);
	return err;
}

int store_add(struct store *store, const struct span *span, __s64 boot_to_wall_ns)
{
	int err = store->db ? begin(store) : -EIO;

	if (!err)
		err = insert(store, span, boot_to_wall_ns);
	return err && store->db ? failed(store, err) : err;
}

static int insert_connection(struct store *store, const struct connection *connection,
			     __s64 boot_to_wall_ns)
{
	sqlite3_int64 service =
	    service_rows_id(store->services, connection->record.tgid, &connection->service);

	if (!service ||
	    connection_rows_add(store->connections, connection, service, boot_to_wall_ns))
		return error_of(store->db);
	return 0;
}

int store_add_connection(struct store *store, const struct connection *connection,
			 __s64 boot_to_wall_ns)
{
	int err = store->db ? begin(store) : -EIO;

	if (!err)
		err = insert_connection(store, connection, boot_to_wall_ns);
	return err && store->db ? failed(store, err) : err;
}

int store_flush(struct store *store)
{
	int err;

	if (!store->in_transaction)
		return 0;
	err = minutes_write(store->minutes) ? error_of(store->db) : run(store, "COMMIT");
	if (err)
		return failed(store, err);
	store->in_transaction = store->warned = false;
	return 0;
}

/* A number that a statement without parameters gives; 0: none. */
static __u64 ask(struct store *store, const char *sql)
{
	sqlite3_stmt *statement = NULL;
	__u64 number = 0;

	if (sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL) == SQLITE_OK &&
	    sqlite3_step(statement) == SQLITE_ROW)
		number = (__u64)sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return number;
}

static bool is_too_large(struct store *store)
{
	__u64 pages = ask(store, "PRAGMA page_count") - ask(store, "PRAGMA freelist_count");

	return pages * ask(store, "PRAGMA page_size") > store->limits.bytes;
}

/* What is known of endpoints stays when their spans had to make room. */
static int prune_minutes(struct store *store, __u64 oldest_ns)
{
	char sql[192];

	snprintf(sql, sizeof(sql),
		 "DELETE FROM endpoints WHERE minute < max(%llu, coalesce((SELECT minute FROM "
		 "endpoints ORDER BY minute DESC LIMIT 1 OFFSET %d), 0))",
		 (unsigned long long)(oldest_ns / (60 * NS_PER_SECOND)), ENDPOINT_ROWS);
	return run(store, sql);
}

/* What connections have to be older than to go, in nanoseconds since 1970. */
static __u64 oldest_connection_ns(struct store *store, bool too_large, __u64 oldest_ns,
				  __u64 now_wall_ns)
{
	__u64 span_ns;

	if (!too_large)
		return oldest_ns;
	span_ns = ask(store, "SELECT start_ns FROM spans ORDER BY id LIMIT 1");
	return span_ns ? span_ns : now_wall_ns;
}

/* Rows are in the order of their ends. */
static int prune_spans(struct store *store, bool too_large, __u64 oldest_ns)
{
	char sql[192];

	if (too_large)
		snprintf(sql, sizeof(sql),
			 "DELETE FROM spans WHERE id < (SELECT min(id) FROM spans) + %d",
			 PRUNE_ROWS);
	else
		snprintf(sql, sizeof(sql),
			 "DELETE FROM spans WHERE start_ns < %llu AND id < "
			 "(SELECT min(id) FROM spans) + %d",
			 (unsigned long long)oldest_ns, PRUNE_ROWS);
	return run(store, sql);
}

int store_prune(struct store *store, __u64 now_wall_ns)
{
	__u64 oldest_ns = now_wall_ns - store->limits.seconds * NS_PER_SECOND;
	bool too_large;
	int removed, err = 0;

	if (!store->db)
		return -EIO;
	too_large = is_too_large(store);
	removed = connection_rows_prune(
	    store->connections, oldest_connection_ns(store, too_large, oldest_ns, now_wall_ns));
	/* What is oldest goes first, whichever it is. */
	if (removed < 0)
		err = error_of(store->db);
	else if (!too_large || !removed)
		err = prune_spans(store, too_large, oldest_ns);
	if (!err)
		err = prune_minutes(store, oldest_ns);
	if (!err)
		err = run(store, "PRAGMA incremental_vacuum(256)");
	return err;
}

sqlite3 *store_open_to_read(const char *path, char *ret_why, size_t size)
{
	sqlite3 *db = NULL;

	if (access(path, F_OK)) {
		snprintf(ret_why, size, "%s", strerror(errno));
		return NULL;
	}
	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK) {
		sqlite3_busy_timeout(db, BUSY_MS);
		return db;
	}
	snprintf(ret_why, size, "%s", db ? sqlite3_errmsg(db) : strerror(ENOMEM));
	sqlite3_close(db);
	return NULL;
}
