// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>

#include "trace/place.h"

void place_text(sqlite3_stmt *statement, int *place, const char *text)
{
	sqlite3_bind_text(statement, ++*place, text && *text ? text : NULL, -1, SQLITE_STATIC);
}

void place_number(sqlite3_stmt *statement, int *place, __u64 number)
{
	sqlite3_bind_int64(statement, ++*place, (sqlite3_int64)number);
}

void place_known(sqlite3_stmt *statement, int *place, __u64 number)
{
	if (number)
		place_number(statement, place, number);
	else
		sqlite3_bind_null(statement, ++*place);
}

void place_ends(sqlite3_stmt *statement, int *place, const struct ends *ends,
		struct end_texts *texts)
{
	place_text(statement, place, address_text(texts->local, ends->local));
	place_number(statement, place, ntohs(ends->local_port));
	place_text(statement, place, address_text(texts->remote, ends->remote));
	place_number(statement, place, ntohs(ends->remote_port));
	place_number(statement, place, ends->netns);
}
