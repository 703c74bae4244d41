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
#include <arpa/inet.h>

#include "base/address.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "trace/minutes.h"
#include "trace/schema.h"
#include "trace/store.h"
#include "trace/store_attributes.h"

#define BUSY_MS       2000   /* another writer can only be somebody's own command */
#define PRUNE_ROWS    20000  /* at once: some tens of milliseconds */
#define ENDPOINT_ROWS 200000 /* of the table `endpoints`: some tens of megabytes */
#define SERVICES      256    /* whose row is remembered */

struct known_service {
	struct service service;
	sqlite3_int64 id; /* 0: none */
};

struct store {
	char *path;
	struct store_limits limits;
	int lock_fd;
	sqlite3 *db;
	sqlite3_stmt *insert, *find_service, *insert_service, *put_attributes;
	struct minutes *minutes;
	bool in_transaction, warned;
	struct known_service known[SERVICES];
};

static const char insert_sql[] =
    "INSERT OR IGNORE INTO spans (trace_id, span_id, parent_id, kind, start_ns, duration_ns, "
    "first_byte_ns, "
    "service_id, method, path, route, host, user_agent, status, outcome, error, local_address, "
    "local_port, remote_address, remote_port, netns, pid, tid, request_bytes, response_bytes, "
    "reused, forwarded, header, evidence, veto) VALUES "
    "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";

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
	const struct {
		sqlite3_stmt **to;
		const char *sql;
	} wanted[] = {
	    {&store->insert, insert_sql},
	    {&store->find_service, "SELECT id FROM services WHERE name = ? AND container = ?"},
	    {&store->insert_service, "INSERT INTO services (name, container) VALUES (?, ?)"},
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (sqlite3_prepare_v3(store->db, wanted[i].sql, -1, SQLITE_PREPARE_PERSISTENT,
				       wanted[i].to, NULL) != SQLITE_OK)
			return error_of(store->db);
	if (store_attributes_open(store->db, &store->put_attributes) != SQLITE_OK)
		return error_of(store->db);
	return minutes_new(store->db, &store->minutes) ? error_of(store->db) : 0;
}

static void close_database(struct store *store)
{
	sqlite3_finalize(store->insert);
	sqlite3_finalize(store->find_service);
	sqlite3_finalize(store->insert_service);
	sqlite3_finalize(store->put_attributes);
	minutes_free(store->minutes);
	sqlite3_close(store->db);
	store->insert = store->find_service = store->insert_service = store->put_attributes = NULL;
	store->minutes = NULL;
	store->db = NULL;
	store->in_transaction = false;
	memset(store->known, 0, sizeof(store->known));
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

/* Run a statement with the two texts of a service. Returns what SQLite says. */
static int step_service(sqlite3_stmt *statement, const struct service *service)
{
	sqlite3_reset(statement);
	sqlite3_bind_text(statement, 1, service->name, -1, SQLITE_STATIC);
	sqlite3_bind_text(statement, 2, service->container, -1, SQLITE_STATIC);
	return sqlite3_step(statement);
}

/* The row of a service, made if need be. 0: there is none (an error). */
static sqlite3_int64 service_row(struct store *store, const struct service *service)
{
	sqlite3_int64 id = 0;

	if (step_service(store->find_service, service) == SQLITE_ROW)
		id = sqlite3_column_int64(store->find_service, 0);
	else if (step_service(store->insert_service, service) == SQLITE_DONE)
		id = sqlite3_last_insert_rowid(store->db);
	sqlite3_reset(store->find_service);
	sqlite3_reset(store->insert_service);
	return id;
}

static sqlite3_int64 service_id(struct store *store, const struct span *span)
{
	struct known_service *known = &store->known[span->tgid % SERVICES];

	if (known->id && service_is_same(&known->service, &span->service))
		return known->id;
	known->service = span->service;
	known->id = service_row(store, &span->service);
	if (known->id)
		store_attributes_put(store->put_attributes, known->id, span->service.attributes);
	return known->id;
}

/*
 * The next place of the statement gets a text, or NULL for an empty one. It has to stay where it is
 * until the statement was run.
 */
static void bind_text(sqlite3_stmt *insert, int *place, const char *text)
{
	sqlite3_bind_text(insert, ++*place, text && *text ? text : NULL, -1, SQLITE_STATIC);
}

static void bind_number(sqlite3_stmt *insert, int *place, __u64 number)
{
	sqlite3_bind_int64(insert, ++*place, (sqlite3_int64)number);
}

/* 0 stands for what is not known. */
static void bind_known(sqlite3_stmt *insert, int *place, __u64 number)
{
	if (number)
		bind_number(insert, place, number);
	else
		sqlite3_bind_null(insert, ++*place);
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

/* The two addresses of a connection. */
struct end_texts {
	char local[ADDRESS_TEXT_MAX], remote[ADDRESS_TEXT_MAX];
};

static void bind_ends(sqlite3_stmt *insert, int *place, const struct span *span,
		      struct end_texts *texts)
{
	bind_text(insert, place, address_text(texts->local, span->local));
	bind_number(insert, place, ntohs(span->local_port));
	bind_text(insert, place, address_text(texts->remote, span->remote));
	bind_number(insert, place, ntohs(span->remote_port));
	bind_number(insert, place, span->netns);
}

static void bind_why(sqlite3_stmt *insert, int *place, const struct span *span)
{
	struct span_cause cause = span_cause(span);

	bind_text(insert, place, cause.header);
	bind_text(insert, place, cause.evidence);
	bind_text(insert, place, cause.veto);
}

/* What is bound points into `span` and `texts`. */
static void bind_span(sqlite3_stmt *insert, const struct span *span, struct end_texts *texts,
		      sqlite3_int64 service, __s64 boot_to_wall_ns)
{
	int place = 0;

	bind_ids(insert, &place, span);
	bind_number(insert, &place, span->kind);
	bind_number(insert, &place, span->start_ns + (__u64)boot_to_wall_ns);
	bind_number(insert, &place, span->end_ns - span->start_ns);
	bind_known(insert, &place,
		   span->first_ns > span->start_ns ? span->first_ns - span->start_ns : 0);
	bind_number(insert, &place, (__u64)service);
	bind_text(insert, &place, span->method);
	bind_text(insert, &place, span->path);
	bind_text(insert, &place, span->route);
	bind_text(insert, &place, span->host);
	bind_text(insert, &place, span->agent);
	bind_known(insert, &place, span->status);
	bind_text(insert, &place, outcomes[span->outcome]);
	bind_number(insert, &place, span_is_error(span));
	bind_ends(insert, &place, span, texts);
	bind_known(insert, &place, span->tgid);
	bind_known(insert, &place, span->tid);
	bind_known(insert, &place, span->request_size);
	bind_known(insert, &place, span->response_size);
	bind_number(insert, &place, span->is_reused);
	bind_number(insert, &place, span->is_forwarded);
	bind_why(insert, &place, span);
}

static int begin(struct store *store)
{
	int err = store->in_transaction ? 0 : run(store, "BEGIN");

	store->in_transaction |= !err;
	return err;
}

static int insert(struct store *store, const struct span *span, __s64 boot_to_wall_ns)
{
	sqlite3_int64 service = service_id(store, span);
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
	memset(store->known, 0, sizeof(store->known));
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

int store_prune(struct store *store, __u64 now_wall_ns)
{
	__u64 oldest_ns = now_wall_ns - store->limits.seconds * NS_PER_SECOND;
	char sql[192];
	int err;

	if (!store->db)
		return -EIO;
	/* Rows are in the order of their ends. */
	if (is_too_large(store))
		snprintf(sql, sizeof(sql),
			 "DELETE FROM spans WHERE id < (SELECT min(id) FROM spans) + %d",
			 PRUNE_ROWS);
	else
		snprintf(sql, sizeof(sql),
			 "DELETE FROM spans WHERE start_ns < %llu AND id < "
			 "(SELECT min(id) FROM spans) + %d",
			 (unsigned long long)oldest_ns, PRUNE_ROWS);
	err = run(store, sql);
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
