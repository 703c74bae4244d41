// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/address.h"
#include "base/foreign.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/unique.h"
#include "trace/edges.h"

#define OTHERS "(others)"

static const char served_sql[] =
    "SELECT parent_id, service_id, remote_address, error, duration_ns, start_ns, remote_port,"
    " position FROM spans WHERE kind = 2 AND start_ns >= ?1 ORDER BY id DESC LIMIT ?2";
static const char called_sql[] =
    "SELECT span_id, service_id, local_address, coalesce(host, remote_address), error,"
    " duration_ns, start_ns, local_port, position FROM spans"
    " WHERE kind = 3 AND start_ns >= ?1 ORDER BY id DESC LIMIT ?2";

/*
 * The position of a request's first byte on the wire, which is the same in the spans of both ends.
 */
struct origin {
	const char *address; /* of its client */
	int port;
	sqlite3_int64 position;
	bool is_known; /* the position is not NULL */
};

/* A request that came in. */
struct served {
	__u64 parent_id; /* 0: none */
	sqlite3_int64 service;
	char remote[ADDRESS_TEXT_MAX];
	struct origin origin;
	__u64 duration_ns;
	bool is_error, is_joined; /* its call was found */
	bool has_call;            /* found by its origin: it is not joined by ids */
};

/* One end of an edge. */
struct end {
	const char *name;
	bool outside;
};

struct reading {
	sqlite3 *db;
	__s64 since_ns;
	char **name; /* of services, by their rows; NULL: none */
	size_t names;
	struct served *served;
	size_t count;
	struct unique by_parent, by_origin; /* served requests */
	struct edges *edges;
	struct unique by_ends; /* edges */
};

static int prepare(struct reading *reading, const char *sql, sqlite3_stmt **ret_rows)
{
	if (sqlite3_prepare_v2(reading->db, sql, -1, ret_rows, NULL) != SQLITE_OK)
		return -EIO;
	sqlite3_bind_int64(*ret_rows, 1, reading->since_ns);
	sqlite3_bind_int64(*ret_rows, 2, EDGES_SPANS_MAX);
	return 0;
}

/* After the last row; `err`: what went wrong before. */
static int finish(sqlite3_stmt *rows, int err)
{
	return sqlite3_finalize(rows) == SQLITE_OK ? err : -EIO;
}

static void note_time(struct edges *edges, sqlite3_int64 start_ns)
{
	if (!edges->first_ns || start_ns < edges->first_ns)
		edges->first_ns = start_ns;
}

static int add_name(struct reading *reading, sqlite3_int64 row, const unsigned char *name)
{
	size_t wanted = (size_t)row + 1;
	char **more = reading->name;

	if (wanted > reading->names) {
		more = reallocarray(more, wanted, sizeof(*more));
		if (!more)
			return -ENOMEM;
		memset(more + reading->names, 0, (wanted - reading->names) * sizeof(*more));
		reading->name = more;
		reading->names = wanted;
	}
	if (more && name && *name)
		more[row] = foreign_dup((const char *)name);
	return 0;
}

static int read_names(struct reading *reading)
{
	sqlite3_stmt *rows = NULL;
	int err = prepare(reading, "SELECT id, name FROM services", &rows);

	while (!err && sqlite3_step(rows) == SQLITE_ROW)
		err =
		    add_name(reading, sqlite3_column_int64(rows, 0), sqlite3_column_text(rows, 1));
	return finish(rows, err);
}

static const char *name_of(const struct reading *reading, sqlite3_int64 service)
{
	return service >= 0 && (size_t)service < reading->names ? reading->name[service] : NULL;
}

static __u64 read_id(sqlite3_stmt *row, int column)
{
	__u64 id = 0;

	if (sqlite3_column_bytes(row, column) == sizeof(id))
		memcpy(&id, sqlite3_column_blob(row, column), sizeof(id));
	return id;
}

static __u64 hash_of_origin(const struct origin *origin)
{
	__u64 hash = hash_text(HASH_BEGIN, origin->address);

	hash = hash_add(hash, &origin->port, sizeof(origin->port));
	return hash_add(hash, &origin->position, sizeof(origin->position));
}

static bool has_origin(const void *item, const void *key)
{
	const struct origin *a = &((const struct served *)item)->origin, *b = key;

	return a->port == b->port && a->position == b->position && !strcmp(a->address, b->address);
}

/* It names this call, and is not known to be another one's. */
static bool has_parent(const void *item, const void *span_id)
{
	const struct served *served = item;

	return served->parent_id == *(const __u64 *)span_id && !served->has_call;
}

/* Ids are random, and need no hash. */
static int index_served(struct reading *reading, const struct served *served)
{
	if (served->parent_id && unique_append(&reading->by_parent, served->parent_id, served) < 0)
		return -ENOMEM;
	if (served->origin.is_known &&
	    unique_append(&reading->by_origin, hash_of_origin(&served->origin), served) < 0)
		return -ENOMEM;
	return 0;
}

/* Of a row with a port and a position in these columns. */
static struct origin read_origin(sqlite3_stmt *row, const char *address, int port, int position)
{
	return (struct origin){.address = address ? address : "",
			       .port = sqlite3_column_int(row, port),
			       .position = sqlite3_column_int64(row, position),
			       .is_known =
				   address && sqlite3_column_type(row, position) != SQLITE_NULL};
}

static int read_served(struct reading *reading)
{
	sqlite3_stmt *rows = NULL;
	int err = prepare(reading, served_sql, &rows);

	reading->served = calloc(EDGES_SPANS_MAX, sizeof(*reading->served));
	if (!reading->served)
		err = -ENOMEM;
	while (!err && reading->count < EDGES_SPANS_MAX && sqlite3_step(rows) == SQLITE_ROW) {
		struct served *served = &reading->served[reading->count];

		served->parent_id = read_id(rows, 0);
		served->service = sqlite3_column_int64(rows, 1);
		text_copy(served->remote, sizeof(served->remote),
			  (const char *)sqlite3_column_text(rows, 2));
		served->is_error = sqlite3_column_int(rows, 3);
		served->duration_ns = (__u64)sqlite3_column_int64(rows, 4);
		served->origin = read_origin(rows, served->remote, 6, 7);
		note_time(reading->edges, sqlite3_column_int64(rows, 5));
		err = index_served(reading, served);
		reading->count++;
	}
	reading->edges->is_cut |= reading->count == EDGES_SPANS_MAX;
	return finish(rows, err);
}

/* The request with the origin of a call; NULL: there is none. */
static struct served *find_by_origin(struct reading *reading, const struct origin *origin)
{
	if (!origin->is_known)
		return NULL;
	return unique_find(&reading->by_origin, hash_of_origin(origin), origin);
}

/* The request that names a call, and is not known to be another one's; NULL: none was seen. */
static struct served *find_by_id(struct reading *reading, __u64 span_id)
{
	return span_id ? unique_find(&reading->by_parent, span_id, &span_id) : NULL;
}

/*
 * The request that a call has become; NULL: it was not seen. A program that hands a traceparent on
 * as it got it names its caller's span in all its calls.
 */
static struct served *find_served(struct reading *reading, sqlite3_stmt *row)
{
	const struct origin origin =
	    read_origin(row, (const char *)sqlite3_column_text(row, 2), 7, 8);
	struct served *served = find_by_origin(reading, &origin);

	return served ? served : find_by_id(reading, read_id(row, 0));
}

static __u64 hash_of_ends(const struct end ends[2])
{
	__u64 hash = hash_text(HASH_BEGIN, ends[0].name);

	hash = hash_text(hash, ends[1].name);
	return hash ^ ends[0].outside ^ ends[1].outside;
}

static bool is_between(const void *item, const void *key)
{
	const struct edge *edge = item;
	const struct end *caller = key, *callee = caller + 1;

	return edge->from_outside == caller->outside && edge->to_outside == callee->outside &&
	       !strcmp(edge->caller, caller->name) && !strcmp(edge->callee, callee->name);
}

static struct edge *edge_new(struct edges *edges, const struct end *caller,
			     const struct end *callee)
{
	struct edge *edge = calloc(1, sizeof(*edge));

	if (!edge)
		return NULL;
	edge->caller = strdup(caller->name);
	edge->callee = strdup(callee->name);
	edge->from_outside = caller->outside;
	edge->to_outside = callee->outside;
	if (edge->caller && edge->callee) {
		edges->edge[edges->count++] = edge;
		return edge;
	}
	free(edge->caller);
	free(edge->callee);
	free(edge);
	return NULL;
}

/* NULL: no memory. */
static struct edge *find_edge(struct reading *reading, const struct end *caller,
			      const struct end *callee)
{
	static const struct end others = {OTHERS, true};
	const struct end ends[] = {*caller, *callee};
	const __u64 hash = hash_of_ends(ends);
	struct edge *edge = unique_find(&reading->by_ends, hash, ends);

	if (edge)
		return edge;
	if (reading->edges->count >= EDGES_MAX && caller != &others)
		return find_edge(reading, &others, &others);
	edge = edge_new(reading->edges, caller, callee);
	return edge && unique_append(&reading->by_ends, hash, edge) >= 0 ? edge : NULL;
}

static int count(struct reading *reading, const struct end *caller, const struct end *callee,
		 __u64 duration_ns, bool is_error)
{
	struct edge *edge = find_edge(reading, caller, callee);

	if (!edge)
		return -ENOMEM;
	edge->count++;
	edge->errors += is_error;
	if (duration_ns > edge->longest_ns)
		edge->longest_ns = duration_ns;
	histogram_add(&edge->durations, duration_ns);
	return 0;
}

/* First pass: mark the requests whose call is found by their origin. */
static int mark_called(struct reading *reading, sqlite3_stmt *row)
{
	const struct origin origin =
	    read_origin(row, (const char *)sqlite3_column_text(row, 2), 7, 8);
	struct served *served = find_by_origin(reading, &origin);

	if (served)
		served->has_call = true;
	return 0;
}

static int count_called(struct reading *reading, sqlite3_stmt *row)
{
	struct served *served = find_served(reading, row);
	const char *caller_name = name_of(reading, sqlite3_column_int64(row, 1));
	const char *callee_name = served ? name_of(reading, served->service) : NULL;
	/* An end without a name is a request that this host forwards, or its service was removed.
	 */
	struct end caller = {caller_name, !caller_name}, callee = {callee_name, !callee_name};

	if (served)
		served->is_joined = true;
	if (!caller.name)
		caller.name = (const char *)sqlite3_column_text(row, 2);
	if (!callee.name)
		callee.name = (const char *)sqlite3_column_text(row, 3);
	return count(reading, &caller, &callee, (__u64)sqlite3_column_int64(row, 5),
		     sqlite3_column_int(row, 4));
}

static int read_called(struct reading *reading,
		       int (*visit)(struct reading *reading, sqlite3_stmt *row))
{
	sqlite3_stmt *rows = NULL;
	int err = prepare(reading, called_sql, &rows);
	size_t read = 0;

	while (!err && sqlite3_step(rows) == SQLITE_ROW) {
		note_time(reading->edges, sqlite3_column_int64(rows, 6));
		err = visit(reading, rows);
		read++;
	}
	reading->edges->is_cut |= read == EDGES_SPANS_MAX;
	return finish(rows, err);
}

/* Requests whose calls were not made on this host. */
static int count_others(struct reading *reading)
{
	int err = 0;

	for (size_t i = 0; !err && i < reading->count; i++) {
		const struct served *served = &reading->served[i];
		const char *name = name_of(reading, served->service);
		const struct end caller = {served->remote, true},
				 callee = {name ? name : "?", false};

		if (!served->is_joined)
			err =
			    count(reading, &caller, &callee, served->duration_ns, served->is_error);
	}
	return err;
}

int edges_read(sqlite3 *db, __s64 since_ns, struct edges *ret_edges)
{
	struct reading *reading = calloc(1, sizeof(*reading));
	int err;

	*ret_edges = (struct edges){.edge = calloc(EDGES_MAX + 1, sizeof(struct edge *))};
	if (!reading || !ret_edges->edge) {
		free(reading);
		return -ENOMEM;
	}
	reading->db = db;
	reading->since_ns = since_ns;
	reading->edges = ret_edges;
	reading->by_parent.same = has_parent;
	reading->by_origin.same = has_origin;
	reading->by_ends.same = is_between;
	err = read_names(reading);
	if (!err)
		err = read_served(reading);
	if (!err)
		err = read_called(reading, mark_called);
	if (!err)
		err = read_called(reading, count_called);
	if (!err)
		err = count_others(reading);
	for (size_t i = 0; i < reading->names; i++)
		free(reading->name[i]);
	free(reading->name);
	free(reading->served);
	unique_free(&reading->by_parent);
	unique_free(&reading->by_origin);
	unique_free(&reading->by_ends);
	free(reading);
	return err;
}

void edges_free(struct edges *edges)
{
	for (size_t i = 0; i < edges->count; i++) {
		free(edges->edge[i]->caller);
		free(edges->edge[i]->callee);
		free(edges->edge[i]);
	}
	free(edges->edge);
	*edges = (struct edges){};
}
