// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <bpf/bpf.h>
#include <jansson.h>

#include "abi.h"
#include "base/address.h"
#include "base/cleanup.h"
#include "base/foreign.h"
#include "base/number.h"
#include "base/reason_names.h"
#include "cmd/command.h"
#include "cmd/json.h"
#include "cmd/store.h"
#include "load/table.h"
#include "trace/json.h"

#define CALLS         10
#define ADDRESSES_MAX 8
#define HOST_MAX      256

const char command_why_usage[] =
    "  ctxprop why HOST[:PORT]  the last requests to a server, by its address or name\n"
    "  ctxprop why PID          those of a process\n"
    "  ctxprop why TRACE        those of a trace, by its id (32 hex digits)\n"
    "\n"
    "For each: why it got a header or not, and why it belongs to this trace and no other.\n";

/* Who is asked about. */
struct subject {
	const char *text;
	char host[HOST_MAX]; /* as it was typed; empty: no host */
	unsigned long port;  /* 0: any */
	char address[ADDRESSES_MAX][ADDRESS_TEXT_MAX];
	size_t addresses;
	unsigned long pid; /* 0: none */
	const char *trace; /* NULL: none */
	json_t *array;     /* NULL: text */
};

static const char calls_sql[] =
    "SELECT start_ns, name, pid, method, path, host, remote_address, remote_port, header, evidence,"
    " veto, lower(hex(trace_id)), lower(hex(parent_id)), forwarded, status, outcome,"
    " (SELECT server.method || ' ' || server.path FROM spans AS server WHERE"
    "  server.trace_id = spans.trace_id AND server.span_id = spans.parent_id)"
    " FROM spans JOIN services ON services.id = service_id WHERE kind = 3"
    " AND (?1 IS NULL OR remote_address = ?1 OR host = ?2 OR host LIKE ?2 || ':%')"
    " AND (?3 IS NULL OR remote_port = ?3) AND (?4 IS NULL OR pid = ?4)"
    " AND (?5 IS NULL OR trace_id = ?5) ORDER BY spans.id DESC LIMIT ?6";

/* "host", "host:port", "[v6]:port". Returns 0 or -1. */
static int split(struct subject *subject)
{
	const char *text = subject->text, *colon = strrchr(text, ':');
	bool has_port = colon && (colon == strchr(text, ':') || (colon > text && colon[-1] == ']'));
	size_t length = has_port ? (size_t)(colon - text) : strlen(text);

	if (has_port && number_parse(colon + 1, 1, 65535, &subject->port))
		return -1;
	if (length > 1 && text[0] == '[' && text[length - 1] == ']') {
		text++;
		length -= 2;
	}
	if (!length || length >= sizeof(subject->host))
		return -1;
	memcpy(subject->host, text, length);
	subject->host[length] = '\0';
	return 0;
}

/* The addresses of a host. None is no error: requests are found by host name, too. */
static void resolve(struct subject *subject)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *list = NULL;

	if (getaddrinfo(subject->host, NULL, &hints, &list))
		return;
	for (struct addrinfo *at = list; at && subject->addresses < ADDRESSES_MAX; at = at->ai_next)
		if (!getnameinfo(at->ai_addr, at->ai_addrlen, subject->address[subject->addresses],
				 ADDRESS_TEXT_MAX, NULL, 0, NI_NUMERICHOST))
			subject->addresses++;
	freeaddrinfo(list);
}

/* What kind of a word it is. Returns COMMAND_OK or COMMAND_USAGE. */
static int read_subject(const char *text, struct subject *ret)
{
	*ret = (struct subject){.text = text};
	if (strlen(text) == 32 && strspn(text, "0123456789abcdefABCDEF") == 32) {
		ret->trace = text;
		return COMMAND_OK;
	}
	if (!number_parse(text, 1, 4194304, &ret->pid))
		return COMMAND_OK;
	ret->pid = 0;
	if (split(ret))
		return command_misused("why: '%s': expected HOST, HOST:PORT, a process id or a "
				       "trace id of 32 hex digits",
				       text);
	resolve(ret);
	return COMMAND_OK;
}

static const char *text_of(const char *name)
{
	for (unsigned int reason = 0; name && reason < REASON_COUNT; reason++)
		if (!strcmp(reason_row(reason)->name, name))
			return reason_row(reason)->text;
	return "";
}

static const char *column(sqlite3_stmt *row, int number)
{
	const char *text = (const char *)sqlite3_column_text(row, number);

	return text ? text : "";
}

static void print_call(sqlite3_stmt *row)
{
	time_t seconds = (time_t)(sqlite3_column_int64(row, 0) / 1000000000);
	const char *veto = column(row, 10), *cause = column(row, 16);
	struct tm local;
	char when[16];

	strftime(when, sizeof(when), "%T", localtime_r(&seconds, &local));
	printf("%s  ", when);
	foreign_print(sqlite3_column_int(row, 13) ? "forwarded" : column(row, 1));
	if (sqlite3_column_int64(row, 2))
		printf(" (%lld)", sqlite3_column_int64(row, 2));
	fputs("  ", stdout);
	foreign_print(column(row, 3));
	putchar(' ');
	foreign_print(column(row, 4));
	printf(" > %s:%d  %s\n", column(row, 6), sqlite3_column_int(row, 7),
	       sqlite3_column_int(row, 14) ? column(row, 14) : column(row, 15));
	printf("  header  %-16s %s\n", column(row, 8), text_of(column(row, 8)));
	if (*veto)
		printf("  trace   %-16s new: %s\n", veto, text_of(veto));
	else
		printf("  trace   %-16s %s\n", column(row, 9), text_of(column(row, 9)));
	printf("          %s", column(row, 11));
	if (*cause) {
		fputs(", for ", stdout);
		foreign_print(cause);
	}
	putchar('\n');
}

static json_t *call_json(sqlite3_stmt *row)
{
	json_t *object =
	    json_pack("{sI,sI,sb,sI,sI}", "start_ns", (json_int_t)sqlite3_column_int64(row, 0),
		      "pid", (json_int_t)sqlite3_column_int64(row, 2), "forwarded",
		      sqlite3_column_int(row, 13), "port", (json_int_t)sqlite3_column_int64(row, 7),
		      "status", (json_int_t)sqlite3_column_int64(row, 14));
	const struct {
		const char *name;
		int column;
	} texts[] = {{"service", 1},   {"method", 3},     {"path", 4},     {"host", 5},
		     {"address", 6},   {"header", 8},     {"evidence", 9}, {"veto", 10},
		     {"trace_id", 11}, {"parent_id", 12}, {"cause", 16}};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		json_set_text(object, texts[i].name,
			      (const char *)sqlite3_column_text(row, texts[i].column));
	return object;
}

static void bind_trace(sqlite3_stmt *statement, const char *trace)
{
	unsigned char id[16];

	for (size_t i = 0; i < sizeof(id); i++) {
		char digits[3] = {trace[2 * i], trace[2 * i + 1], '\0'};

		id[i] = (unsigned char)strtoul(digits, NULL, 16);
	}
	sqlite3_bind_blob(statement, 5, id, sizeof(id), SQLITE_TRANSIENT);
}

/* Print the calls to one address of the subject, NULL if it has none. Returns how many, or -1. */
static int print_calls(sqlite3 *db, const struct subject *subject, const char *address)
{
	sqlite3_stmt *statement = NULL;
	int count = 0, result;

	if (sqlite3_prepare_v2(db, calls_sql, -1, &statement, NULL) != SQLITE_OK)
		return -1;
	if (address) {
		sqlite3_bind_text(statement, 1, address, -1, SQLITE_STATIC);
		sqlite3_bind_text(statement, 2, subject->host, -1, SQLITE_STATIC);
	}
	if (subject->port)
		sqlite3_bind_int64(statement, 3, (sqlite3_int64)subject->port);
	if (subject->pid)
		sqlite3_bind_int64(statement, 4, (sqlite3_int64)subject->pid);
	if (subject->trace)
		bind_trace(statement, subject->trace);
	sqlite3_bind_int(statement, 6, CALLS);
	while ((result = sqlite3_step(statement)) == SQLITE_ROW) {
		if (subject->array)
			json_array_append_new(subject->array, call_json(statement));
		else
			print_call(statement);
		count++;
	}
	sqlite3_finalize(statement);
	return result == SQLITE_DONE ? count : -1;
}

/* Connections that are left alone have no requests; say so. */
static void print_flow(const struct flow_key *key, const struct flow *flow, void *data)
{
	const struct subject *subject = data;
	const struct reason_row *row = reason_row(flow->opaque_reason);
	char address[ADDRESS_TEXT_MAX], from[ENDPOINT_TEXT_MAX], to[ENDPOINT_TEXT_MAX];

	if (!(flow->flags & FLOW_OPAQUE) || (flow->flags & FLOW_SERVER) || !row ||
	    (subject->port && ntohs(key->dport) != subject->port))
		return;
	address_text(address, key->dst);
	for (size_t i = 0; i < subject->addresses; i++)
		if (!strcmp(subject->address[i], address)) {
			printf("connection %s > %s\n", address_endpoint(from, key->src, key->sport),
			       address_endpoint(to, key->dst, key->dport));
			printf("  header  %-16s %s\n", row->name, row->text);
			return;
		}
}

static void print_connections(const struct pins *pins, struct subject *subject)
{
	char path[PINS_PATH_MAX];
	_cleanup_close_ int fd = bpf_obj_get(pins_map_path(path, pins->layer_dir, "flows"));

	if (fd >= 0)
		table_each(fd, print_flow, subject);
}

static int explain(sqlite3 *db, const struct pins *pins, struct subject *subject)
{
	int count = 0, more;

	if (!subject->host[0])
		count = print_calls(db, subject, NULL);
	/* A name without an address may still be in requests. */
	if (subject->host[0] && !subject->addresses)
		count = print_calls(db, subject, subject->host);
	for (size_t i = 0; count >= 0 && i < subject->addresses; i++) {
		more = print_calls(db, subject, subject->address[i]);
		count = more < 0 ? more : count + more;
	}
	if (count < 0)
		return command_refuse_store(db);
	if (subject->array)
		return json_print(subject->array);
	print_connections(pins, subject);
	if (!count)
		printf("no request of %s is in the store\n", subject->text);
	return COMMAND_OK;
}

int command_why(const struct pins *pins, const struct command_flags *flags)
{
	struct subject subject;
	sqlite3 *db;
	int exit_code;

	if (flags->count != 1)
		return command_misused("why: expected one argument: HOST[:PORT], a process id or a "
				       "trace id");
	exit_code = read_subject(flags->words[0], &subject);
	if (exit_code)
		return exit_code;
	db = command_open_store();
	if (!db)
		return COMMAND_REFUSED;
	subject.array = flags->json ? json_array() : NULL;
	exit_code = explain(db, pins, &subject);
	sqlite3_close(db);
	return exit_code;
}
