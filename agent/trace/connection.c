// SPDX-License-Identifier: Apache-2.0
#include "trace/connection.h"

bool connection_is_record(const void *record, size_t size)
{
	const struct record_connection *connection = record;

	return size >= sizeof(*connection) && connection->kind == RECORD_CONNECTION;
}

void connection_read(const struct record_connection *record, struct services *services,
		     struct connection *ret_connection)
{
	ret_connection->record = *record;
	ret_connection->service = *services_find(services, record->tgid, NULL);
}

const char *connection_side_name(unsigned int side)
{
	if (side == CONNECTION_CLIENT)
		return "client";
	return side == CONNECTION_SERVER ? "server" : NULL;
}

const char *connection_end_name(unsigned int end)
{
	static const char *const names[CONNECTION_ENDS] = {
	    [CONNECTION_CLOSED] = "closed",       [CONNECTION_RESET] = "reset",
	    [CONNECTION_ABORTED] = "aborted",     [CONNECTION_REFUSED] = "refused",
	    [CONNECTION_TIMED_OUT] = "timeout",   [CONNECTION_UNREACHABLE] = "unreachable",
	    [CONNECTION_ABANDONED] = "abandoned", [CONNECTION_FAILED] = "failed",
	};

	return end < CONNECTION_ENDS ? names[end] : "failed";
}
