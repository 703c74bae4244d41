// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>

#include "trace/connection_rows.h"
#include "trace/bind.h"

struct connection_rows {
	sqlite3 *db;
	sqlite3_stmt *insert;
};

static const char insert_sql[] =
    "INSERT OR IGNORE INTO connections (socket_cookie, closed_boot_ns, side, service_id, pid, tid, "
    "local_address, local_port, remote_address, remote_port, netns, cgroup, opened_ns, "
    "established_ns, closed_ns, outcome, bytes_sent, bytes_received, retransmitted, rtt_us, "
    "first_sent, first_received) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";

int connection_rows_new(sqlite3 *db, struct connection_rows **ret_rows)
{
	struct connection_rows *rows = calloc(1, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	rows->db = db;
	if (sqlite3_prepare_v3(db, insert_sql, -1, SQLITE_PREPARE_PERSISTENT, &rows->insert,
			       NULL) != SQLITE_OK) {
		free(rows);
		return -EIO;
	}
	*ret_rows = rows;
	return 0;
}

void connection_rows_free(struct connection_rows *rows)
{
	if (!rows)
		return;
	sqlite3_finalize(rows->insert);
	free(rows);
}

/* A time of CLOCK_BOOTTIME as one of CLOCK_REALTIME; 0 stays 0. */
static __u64 wall_ns(__u64 boot_ns, __s64 boot_to_wall_ns)
{
	return boot_ns ? boot_ns + (__u64)boot_to_wall_ns : 0;
}

static void bind_times(sqlite3_stmt *insert, int *parameter, const struct record_connection *record,
		       __s64 boot_to_wall_ns)
{
	bind_known(insert, parameter, wall_ns(record->opened_ns, boot_to_wall_ns));
	bind_known(insert, parameter, wall_ns(record->established_ns, boot_to_wall_ns));
	bind_number(insert, parameter, wall_ns(record->closed_ns, boot_to_wall_ns));
}

/* Sequence numbers are known only of connections that were established, and may be 0. */
static void bind_first(sqlite3_stmt *insert, int *parameter, const struct record_connection *record)
{
	if (!record->established_ns)
		return; /* what has no value is NULL */
	bind_number(insert, parameter, record->first_out);
	bind_number(insert, parameter, record->first_in);
}

/* What is bound points into `texts`. */
static void bind_all(sqlite3_stmt *insert, const struct record_connection *record,
		     struct end_texts *texts, sqlite3_int64 service, __s64 boot_to_wall_ns)
{
	const struct ends ends = {record->local, record->remote, record->local_port,
				  record->remote_port, record->netns};
	int parameter = 0;

	bind_number(insert, &parameter, record->cookie);
	bind_number(insert, &parameter, record->closed_ns);
	bind_text(insert, &parameter, connection_side_name(record->side));
	bind_number(insert, &parameter, (__u64)service);
	bind_known(insert, &parameter, record->tgid);
	bind_known(insert, &parameter, record->tid);
	bind_ends(insert, &parameter, &ends, texts);
	bind_known(insert, &parameter, record->cgroup);
	bind_times(insert, &parameter, record, boot_to_wall_ns);
	bind_text(insert, &parameter, connection_end_name(record->end));
	bind_number(insert, &parameter, record->sent);
	bind_number(insert, &parameter, record->received);
	bind_number(insert, &parameter, record->retransmitted);
	bind_known(insert, &parameter, record->rtt_us);
	bind_first(insert, &parameter, record);
}

int connection_rows_add(struct connection_rows *rows, const struct connection *connection,
			sqlite3_int64 service, __s64 boot_to_wall_ns)
{
	struct end_texts texts;
	int result;

	sqlite3_clear_bindings(rows->insert);
	bind_all(rows->insert, &connection->record, &texts, service, boot_to_wall_ns);
	result = sqlite3_step(rows->insert);
	sqlite3_reset(rows->insert);
	return result == SQLITE_DONE ? 0 : -EIO;
}
