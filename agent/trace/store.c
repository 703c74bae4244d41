// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
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
#include "trace/bind.h"
#include "trace/connection_rows.h"
#include "trace/minutes.h"
#include "trace/query.h"
#include "trace/query_limits.h"
#include "trace/schema.h"
#include "trace/service_rows.h"
#include "trace/span.h"
#include "trace/store.h"
#include "trace/store_bounds.h"
#include "trace/store_shares.h"

struct store_again {
	sqlite3_stmt *find;
	unsigned int left; /* spans that may be such */
};

/* More spans than a ring can hold: each needs at least the record of its end. */
#define SPANS_MAX (RECORDS_SIZE / sizeof(struct record_end))
_Static_assert(SPANS_MAX < 1 << SCHEMA_RUN_BITS, "they are in the last two runs of rows");

static const char find_sql[] = "SELECT 1 FROM spans WHERE id >> " SCHEMA_RUN_BITS_TEXT
			       " IN (?1, ?1 - 1) AND trace_id = ?2 AND span_id = ?3";

/* Note the last rows of the store as it is now. Returns SQLite's result. */
static int store_again_open(sqlite3 *db, struct store_again *ret_again)
{
	const __s64 last = query_number(db, "SELECT max(id) FROM spans");
	int result =
	    sqlite3_prepare_v3(db, find_sql, -1, SQLITE_PREPARE_PERSISTENT, &ret_again->find, NULL);

	if (result != SQLITE_OK)
		return result;
	ret_again->left = last > 0 ? SPANS_MAX : 0;
	return sqlite3_bind_int64(ret_again->find, 1, last >> SCHEMA_RUN_BITS);
}

/* Was this span, which is the next one to be stored, there when the store was opened? */
static bool store_again_has(struct store_again *again, const struct span *span)
{
	bool has;

	if (!again->left)
		return false;
	again->left--;
	sqlite3_bind_blob(again->find, 2, span->trace_id, sizeof(span->trace_id), SQLITE_STATIC);
	sqlite3_bind_blob(again->find, 3, &span->span_id, sizeof(span->span_id), SQLITE_STATIC);
	has = sqlite3_step(again->find) == SQLITE_ROW;
	sqlite3_reset(again->find);
	return has;
}

static void store_again_close(struct store_again *again)
{
	sqlite3_finalize(again->find);
	*again = (struct store_again){};
}

/* The statement that adds a row, unless a span of its ids is there. */
extern const char store_row_insert[];

const char store_row_insert[] =
    "INSERT OR IGNORE INTO spans (trace_id, span_id, parent_id, kind, start_ns, duration_ns, "
    "first_byte_ns, "
    "service_id, method, path, route, host, user_agent, status, outcome, error, local_address, "
    "local_port, remote_address, remote_port, netns, pid, tid, request_bytes, response_bytes, "
    "reused, forwarded, header, evidence, veto, socket_cookie, position, taken_ns) VALUES "
    "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";

static void bind_ids(sqlite3_stmt *insert, int *parameter, const struct span *span)
{
	sqlite3_bind_blob(insert, ++*parameter, span->trace_id, sizeof(span->trace_id),
			  SQLITE_STATIC);
	sqlite3_bind_blob(insert, ++*parameter, &span->span_id, sizeof(span->span_id),
			  SQLITE_STATIC);
	if (span->parent_id)
		sqlite3_bind_blob(insert, ++*parameter, &span->parent_id, sizeof(span->parent_id),
				  SQLITE_STATIC);
	else
		sqlite3_bind_null(insert, ++*parameter);
}

static void bind_why(sqlite3_stmt *insert, int *parameter, const struct span *span)
{
	struct span_cause cause = span_cause(span);

	bind_text(insert, parameter, cause.header);
	bind_text(insert, parameter, cause.evidence);
	bind_text(insert, parameter, cause.veto);
}

/*
 * Fill the statement with a span, whose service has the row `service`. What is bound points into
 * `span` and `texts`, which have to stay until the statement was run.
 */
static void store_row_bind(sqlite3_stmt *insert, const struct span *span, struct end_texts *texts,
			   sqlite3_int64 service, __s64 boot_to_wall_ns)
{
	const struct ends ends = {span->local, span->remote, span->local_port, span->remote_port,
				  span->netns};
	int parameter = 0;

	bind_ids(insert, &parameter, span);
	bind_number(insert, &parameter, span->kind);
	bind_number(insert, &parameter, span->start_ns + (__u64)boot_to_wall_ns);
	bind_number(insert, &parameter, span->end_ns - span->start_ns);
	bind_known(insert, &parameter,
		   span->first_ns > span->start_ns ? span->first_ns - span->start_ns : 0);
	bind_number(insert, &parameter, (__u64)service);
	bind_text(insert, &parameter, span->method);
	bind_text(insert, &parameter, span->path);
	bind_text(insert, &parameter, span->route);
	bind_text(insert, &parameter, span->host);
	bind_text(insert, &parameter, span->agent);
	bind_known(insert, &parameter, span->status);
	bind_text(insert, &parameter, span_outcome_name(span->outcome));
	bind_number(insert, &parameter, span_is_error(span));
	bind_ends(insert, &parameter, &ends, texts);
	bind_known(insert, &parameter, span->tgid);
	bind_known(insert, &parameter, span->tid);
	bind_known(insert, &parameter, span->request_size);
	bind_known(insert, &parameter, span->response_size);
	bind_number(insert, &parameter, span->is_reused);
	bind_number(insert, &parameter, span->is_forwarded);
	bind_why(insert, &parameter, span);
	bind_known(insert, &parameter, span->cookie);
	bind_number(insert, &parameter, span->position);
	bind_known(insert, &parameter,
		   span->taken_ns > span->start_ns ? span->taken_ns - span->start_ns : 0);
}

#define BUSY_MS                                                                                    \
	2000 /* how long to wait for another process's lock where nothing else waits for this      \
		thread */
#define WRITE_BUSY_MS 300                  /* the same while all sinks wait */
#define LOG_PAGES     1000                 /* of the write-ahead log: then it is written back */
#define PAGE_BYTES    4096                 /* of the database, as SQLite makes it */
#define QUIET_NS      (60 * NS_PER_SECOND) /* between two complaints */

struct store {
	char *path;
	struct store_limits limits;
	int lock_fd;
	sqlite3 *db;
	sqlite3_stmt *insert;
	struct store_again again;
	struct service_rows *services;
	struct connection_rows *connections;
	struct minutes *minutes;
	struct store_shares *shares;
	bool in_transaction, warned;
	__u64 quiet_until_ns; /* CLOCK_MONOTONIC: no complaint before */
	__u64 log_bytes;      /* of the write-ahead log */
	dev_t device;         /* of the file that is open */
	ino_t inode;
};

/* An error of SQLite as -errno. */
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
	if (sqlite3_prepare_v3(store->db, store_row_insert, -1, SQLITE_PREPARE_PERSISTENT,
			       &store->insert, NULL) != SQLITE_OK ||
	    store_again_open(store->db, &store->again) != SQLITE_OK ||
	    service_rows_new(store->db, &store->services) ||
	    connection_rows_new(store->db, &store->connections) ||
	    minutes_new(store->db, &store->minutes) || store_shares_new(store->db, &store->shares))
		return error_of(store->db);
	return 0;
}

static void close_database(struct store *store)
{
	sqlite3_finalize(store->insert);
	store_again_close(&store->again);
	service_rows_free(store->services);
	connection_rows_free(store->connections);
	minutes_free(store->minutes);
	store_shares_free(store->shares);
	sqlite3_close(store->db);
	store->insert = NULL;
	store->services = NULL;
	store->connections = NULL;
	store->minutes = NULL;
	store->shares = NULL;
	store->db = NULL;
	store->in_transaction = false;
	query_give_way(false);
}

/* Paths and hosts of requests are private; files that SQLite adds get the same mode. */
static int make_file(struct store *store)
{
	_cleanup_close_ int fd = open(store->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	struct stat file;

	if (fd < 0 || fstat(fd, &file))
		return -errno;
	store->device = file.st_dev;
	store->inode = file.st_ino;
	return 0;
}

/* Readers of this process give way then. */
static bool log_is_long(const struct store *store)
{
	return store->log_bytes > store_bounds_log(&store->limits) / 2;
}

/*
 * After a commit: write the log back to the file when it is long. What a reader still needs stays;
 * as long as there is such a reader the log grows, so those of this process give way in time.
 */
static int on_commit(void *data, sqlite3 *db, const char *name, int pages)
{
	struct store *store = data;

	store->log_bytes = (__u64)pages * PAGE_BYTES;
	query_give_way(log_is_long(store));
	if (pages >= LOG_PAGES)
		sqlite3_wal_checkpoint_v2(db, name, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
	return SQLITE_OK;
}

static int try_open(struct store *store)
{
	const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
	int err = make_file(store);

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
		       "PRAGMA journal_size_limit = 16777216");
	if (!err)
		err = run(store, "PRAGMA temp_store = MEMORY");
	if (!err)
		err = schema_bring_up(store->db);
	if (err == -EIO)
		err = error_of(store->db);
	if (!err)
		err = prepare(store);
	sqlite3_busy_timeout(store->db, WRITE_BUSY_MS);
	sqlite3_wal_hook(store->db, on_commit, store);
	store->log_bytes = 0;
	return err;
}

/* Everything is open afterwards, or nothing. */
static int open_database(struct store *store)
{
	int err = try_open(store);

	if (err)
		close_database(store);
	return err;
}

/* A damaged file is kept, it may still be of use. */
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
	log_warning("store-damaged", "the store %s is damaged: moved it to %s and began a new one",
		    store->path, aside);
	return 0;
}

static int begin_anew(struct store *store)
{
	int err;

	close_database(store);
	err = move_aside(store);
	return err ? err : open_database(store);
}

/* Open it again after it was closed for an error. */
static int reopen(struct store *store)
{
	int err = open_database(store);

	return err == -EUCLEAN ? begin_anew(store) : err;
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
		err = reopen(store);
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

/* Empty the write-ahead log. 0, or -EBUSY while a reader still needs it. */
static int empty_log(struct store *store)
{
	int result;

	sqlite3_busy_timeout(store->db, 0);
	result = sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	sqlite3_busy_timeout(store->db, WRITE_BUSY_MS);
	if (result != SQLITE_OK)
		return -EBUSY;
	store->log_bytes = 0;
	query_give_way(false);
	return 0;
}

static int begin(struct store *store)
{
	int err = 0;

	if (store->in_transaction)
		return 0;
	if (store->log_bytes > store_bounds_log(&store->limits))
		err = empty_log(store);
	if (!err)
		err = run(store, "BEGIN");
	store->in_transaction = !err;
	return err;
}

static void added(struct store *store, const struct span *span, sqlite3_int64 service,
		  __s64 boot_to_wall_ns)
{
	store_shares_add_span(store->shares, service, span);
	if (span_is_sampled(span))
		minutes_add(store->minutes, span, service, (__s64)span->end_ns + boot_to_wall_ns);
}

static int insert(struct store *store, const struct span *span, sqlite3_int64 service,
		  __s64 boot_to_wall_ns)
{
	struct end_texts texts;
	int err = 0;

	if (store_again_has(&store->again, span))
		return 0;
	store_row_bind(store->insert, span, &texts, service, boot_to_wall_ns);
	if (sqlite3_step(store->insert) != SQLITE_DONE)
		err = error_of(store->db);
	else if (sqlite3_changes(store->db)) /* it was not there before */
		added(store, span, service, boot_to_wall_ns);
	sqlite3_reset(store->insert);
	return err;
}

static void complain(struct store *store, const char *why)
{
	__u64 now_ns = clock_now_ns();

	if (store->warned || now_ns < store->quiet_until_ns)
		return;
	log_warning(
	    "store-failing",
	    "cannot write to the store %s: %s; spans are lost until this is over (logged once)",
	    store->path, why);
	store->warned = true;
	store->quiet_until_ns = now_ns + QUIET_NS;
}

static const char *why_of(const struct store *store)
{
	if (!store->db)
		return "it cannot be opened";
	if (store->log_bytes > store_bounds_log(&store->limits))
		return "a reader keeps a transaction open, so that its log (-wal) only grows";
	return sqlite3_errmsg(store->db);
}

/* The span is lost; the next one is tried again. */
static int failed(struct store *store, int err)
{
	complain(store, why_of(store));
	if (!store->db)
		return err;
	if (store->in_transaction)
		run(store, "ROLLBACK");
	store->in_transaction = false;
	service_rows_forget(store->services);
	minutes_forget(store->minutes);
	store_shares_forget(store->shares);
	if (err == -EUCLEAN)
		begin_anew(store);
	return err;
}

/* A transaction for the row of this service, which runs as process `tgid`. 0 or -errno. */
static int begin_row(struct store *store, __u32 tgid, const struct service *service,
		     sqlite3_int64 *ret_service)
{
	int err = store->db ? 0 : reopen(store);

	if (!err)
		err = begin(store);
	if (err)
		return err;
	*ret_service = service_rows_id(store->services, tgid, service);
	return *ret_service ? 0 : error_of(store->db);
}

int store_add(struct store *store, const struct span *span, __s64 boot_to_wall_ns)
{
	sqlite3_int64 service;
	int err = begin_row(store, span->tgid, &span->service, &service);

	if (!err)
		err = insert(store, span, service, boot_to_wall_ns);
	return err ? failed(store, err) : 0;
}

int store_count(struct store *store, const struct span *span, __s64 boot_to_wall_ns)
{
	sqlite3_int64 service;
	int err = begin_row(store, span->tgid, &span->service, &service);

	if (err)
		return failed(store, err);
	minutes_add(store->minutes, span, service, (__s64)span->end_ns + boot_to_wall_ns);
	return 0;
}

int store_add_connection(struct store *store, const struct connection *connection,
			 __s64 boot_to_wall_ns)
{
	sqlite3_int64 service;
	int err = begin_row(store, connection->record.tgid, &connection->service, &service);

	if (!err && connection_rows_add(store->connections, connection, service, boot_to_wall_ns))
		err = error_of(store->db);
	if (!err && sqlite3_changes(store->db))
		store_shares_add_connection(store->shares, service);
	return err ? failed(store, err) : 0;
}

int store_flush(struct store *store)
{
	int err;

	if (!store->in_transaction) {
		if (store->db && log_is_long(store))
			empty_log(store);
		return 0;
	}
	if (minutes_write(store->minutes) || store_shares_write(store->shares))
		err = error_of(store->db);
	else
		err = run(store, "COMMIT");
	if (err)
		return failed(store, err);
	if (store->warned)
		log_info("store-recovered", "the store %s: spans are stored again", store->path);
	store->in_transaction = store->warned = false;
	return 0;
}

/* Has somebody removed the file, or put another one in its place? */
static bool is_replaced(const struct store *store)
{
	struct stat now;

	return stat(store->path, &now) || now.st_ino != store->inode || now.st_dev != store->device;
}

/* Nobody would read a file that was removed. */
static int follow_name(struct store *store)
{
	log_warning("store-replaced", "the store %s was removed or replaced: began a new one",
		    store->path);
	close_database(store);
	return reopen(store);
}

int store_prune(struct store *store, __u64 now_wall_ns)
{
	bool names;
	int err;

	if (!store->db)
		return -EIO;
	if (is_replaced(store))
		return follow_name(store);
	err = store_bounds_keep(store->db, &store->limits, now_wall_ns, &names);
	if (names)
		service_rows_forget(store->services);
	return err < 0 ? error_of(store->db) : err;
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
