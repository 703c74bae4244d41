// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>

#include "trace/connection_rows.h"
#include "trace/place.h"

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

/* A time of CLOCK_BOOTTIME as one of the clock; 0 stays. */
static __u64 wall_ns(__u64 boot_ns, __s64 boot_to_wall_ns)
{
	return boot_ns ? boot_ns + (__u64)boot_to_wall_ns : 0;
}

static void place_times(sqlite3_stmt *insert, int *place, const struct record_connection *record,
			__s64 boot_to_wall_ns)
{
	place_known(insert, place, wall_ns(record->opened_ns, boot_to_wall_ns));
	place_known(insert, place, wall_ns(record->established_ns, boot_to_wall_ns));
	place_number(insert, place, wall_ns(record->closed_ns, boot_to_wall_ns));
}

/* Numbers of bytes are known of connections that were established, and may be 0. */
static void place_first(sqlite3_stmt *insert, int *place, const struct record_connection *record)
{
	if (!record->established_ns)
		return; /* what has no value is NULL */
	place_number(insert, place, record->first_out);
	place_number(insert, place, record->first_in);
}

/* What is bound points into `texts`. */
static void place_all(sqlite3_stmt *insert, const struct record_connection *record,
		      struct end_texts *texts, sqlite3_int64 service, __s64 boot_to_wall_ns)
{
	const struct ends ends = {record->local, record->remote, record->local_port,
				  record->remote_port, record->netns};
	int place = 0;

	place_number(insert, &place, record->cookie);
	place_number(insert, &place, record->closed_ns);
	place_text(insert, &place, connection_side_name(record->side));
	place_number(insert, &place, (__u64)service);
	place_known(insert, &place, record->tgid);
	place_known(insert, &place, record->tid);
	place_ends(insert, &place, &ends, texts);
	place_known(insert, &place, record->cgroup);
	place_times(insert, &place, record, boot_to_wall_ns);
	place_text(insert, &place, connection_end_name(record->end));
	place_number(insert, &place, record->sent);
	place_number(insert, &place, record->received);
	place_number(insert, &place, record->retransmitted);
	place_known(insert, &place, record->rtt_us);
	place_first(insert, &place, record);
}

int connection_rows_add(struct connection_rows *rows, const struct connection *connection,
			sqlite3_int64 service, __s64 boot_to_wall_ns)
{
	struct end_texts texts;
	int result;

	sqlite3_clear_bindings(rows->insert);
	place_all(rows->insert, &connection->record, &texts, service, boot_to_wall_ns);
	result = sqlite3_step(rows->insert);
	sqlite3_reset(rows->insert);
	return result == SQLITE_DONE ? 0 : -EIO;
}
