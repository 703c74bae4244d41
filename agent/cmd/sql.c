// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <jansson.h>

#include "base/cleanup.h"
#include "base/foreign.h"
#include "base/hex.h"
#include "cmd/command.h"
#include "cmd/json.h"
#include "cmd/store.h"

#define ATTACHED_MAX 8

/* Further stores, as the options name them. */
static struct {
	const char *path[ATTACHED_MAX];
	int count;
} attached;

static int add_store(const struct option_row *row, const char *path)
{
	if (attached.count == ATTACHED_MAX)
		return command_misused("--%s %s: %d stores at most", row->name, path, ATTACHED_MAX);
	attached.path[attached.count++] = path;
	return COMMAND_OK;
}

const struct option_row command_sql_options[] = {
    {"attach", 0, "FILE",
     "another store beside it, as of another host: its tables are other.spans, "
     "other.connections, ...; those of the next one other2.spans, ...",
     .set = add_store},
    {"oneline", 'o', NULL, "no line of names; columns are separated by tabs, as always",
     .flag = &command_flags.oneline},
    COMMAND_STORE_OPTION,
    {},
};

const char command_sql_usage[] =
    "  ctxprop sql 'SELECT ...' query the store of spans, which is opened for reading only\n"
    "\n"
    "Tables, views and example queries: docs/schema.md. Ids are BLOBs: hex(trace_id).\n";

/* The caller's to free; NULL: no memory. */
static char *blob_text(sqlite3_stmt *row, int column)
{
	const void *bytes = sqlite3_column_blob(row, column);
	size_t size = (size_t)sqlite3_column_bytes(row, column);
	char *text = malloc(HEX_TEXT(size));

	return text ? hex_text(text, bytes, size) : NULL;
}

static char *repaired_text(sqlite3_stmt *row, int column)
{
	const char *text = (const char *)sqlite3_column_text(row, column);

	return text ? foreign_dup(text) : NULL;
}

/* A text, which may be any bytes, or a BLOB. */
static json_t *bytes_json(sqlite3_stmt *row, int column)
{
	_cleanup_free_ char *text = sqlite3_column_type(row, column) == SQLITE_BLOB
					? blob_text(row, column)
					: repaired_text(row, column);

	return text ? json_string(text) : NULL;
}

static json_t *value_json(sqlite3_stmt *row, int column)
{
	switch (sqlite3_column_type(row, column)) {
	case SQLITE_INTEGER:
		return json_integer(sqlite3_column_int64(row, column));
	case SQLITE_FLOAT:
		return json_real(sqlite3_column_double(row, column));
	case SQLITE_NULL:
		return json_null();
	default:
		return bytes_json(row, column);
	}
}

/* NULL: no memory. */
static json_t *row_json(sqlite3_stmt *row)
{
	json_t *object = json_object();
	bool done = object;

	for (int i = 0; done && i < sqlite3_column_count(row); i++) {
		_cleanup_free_ char *name = foreign_dup(sqlite3_column_name(row, i));

		done = name && !json_object_set_new(object, name, value_json(row, i));
	}
	if (done)
		return object;
	json_decref(object);
	return NULL;
}

static void print_blob(sqlite3_stmt *row, int column)
{
	_cleanup_free_ char *text = blob_text(row, column);

	fputs(text ? text : "", stdout);
}

static void print_row(sqlite3_stmt *row)
{
	for (int i = 0; i < sqlite3_column_count(row); i++) {
		if (i)
			putchar('\t');
		if (sqlite3_column_type(row, i) == SQLITE_BLOB)
			print_blob(row, i);
		else
			foreign_print((const char *)sqlite3_column_text(row, i));
	}
	putchar('\n');
}

static void print_names(sqlite3_stmt *statement)
{
	for (int i = 0; i < sqlite3_column_count(statement); i++)
		printf("%s%s", i ? "\t" : "", sqlite3_column_name(statement, i));
	putchar('\n');
}

static int run(sqlite3_stmt *statement, const struct command_flags *flags)
{
	json_t *rows = flags->json ? json_array() : NULL;
	int result;

	if (!rows && !flags->oneline)
		print_names(statement);
	while ((result = sqlite3_step(statement)) == SQLITE_ROW) {
		if (!rows)
			print_row(statement);
		else if (json_array_append_new(rows, row_json(statement)))
			break;
	}
	if (result == SQLITE_ROW) {
		json_decref(rows);
		return command_refuse("out of memory");
	}
	if (result != SQLITE_DONE) {
		json_decref(rows);
		return command_refuse_store(sqlite3_db_handle(statement));
	}
	return rows ? json_print(rows) : COMMAND_OK;
}

/* One more store, as "other" or "otherN": for reading, as the first one is. COMMAND_OK or not. */
static int attach(sqlite3 *db, int number)
{
	sqlite3_stmt *statement = NULL;
	char name[24] = "other";
	int result = SQLITE_ERROR;

	if (number)
		snprintf(name, sizeof(name), "other%d", number + 1);
	if (access(attached.path[number], R_OK))
		return command_refuse("the store %s: %s", attached.path[number], strerror(errno));
	if (sqlite3_prepare_v2(db, "ATTACH ? AS ?", -1, &statement, NULL) == SQLITE_OK) {
		sqlite3_bind_text(statement, 1, attached.path[number], -1, SQLITE_STATIC);
		sqlite3_bind_text(statement, 2, name, -1, SQLITE_STATIC);
		result = sqlite3_step(statement);
	}
	sqlite3_finalize(statement);
	if (result == SQLITE_DONE)
		return COMMAND_OK;
	return command_refuse("the store %s: %s", attached.path[number], sqlite3_errmsg(db));
}

static int attach_all(sqlite3 *db)
{
	int exit_code = COMMAND_OK;

	for (int i = 0; exit_code == COMMAND_OK && i < attached.count; i++)
		exit_code = attach(db, i);
	/* The query itself cannot attach any other file. */
	sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
	return exit_code;
}

static int ask(sqlite3 *db, const struct command_flags *flags)
{
	sqlite3_stmt *statement = NULL;
	int exit_code;

	if (sqlite3_prepare_v2(db, flags->words[0], -1, &statement, NULL) != SQLITE_OK)
		exit_code = command_refuse_store(db);
	else if (!statement)
		exit_code = command_misused("sql: the query is empty");
	else
		exit_code = run(statement, flags);
	sqlite3_finalize(statement);
	return exit_code;
}

int command_sql(const struct pins *pins, const struct command_flags *flags)
{
	sqlite3 *db;
	int exit_code;

	(void)pins;
	if (flags->count != 1)
		return command_misused("sql: expected one argument, the query, in quotes");
	db = command_open_store();
	if (!db)
		return COMMAND_REFUSED;
	exit_code = attach_all(db);
	if (exit_code == COMMAND_OK)
		exit_code = ask(db, flags);
	sqlite3_close(db);
	return exit_code;
}
