// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>

#include "trace/bind.h"

void bind_text(sqlite3_stmt *statement, int *parameter, const char *text)
{
	sqlite3_bind_text(statement, ++*parameter, text && *text ? text : NULL, -1, SQLITE_STATIC);
}

void bind_number(sqlite3_stmt *statement, int *parameter, __u64 number)
{
	sqlite3_bind_int64(statement, ++*parameter, (sqlite3_int64)number);
}

void bind_known(sqlite3_stmt *statement, int *parameter, __u64 number)
{
	if (number)
		bind_number(statement, parameter, number);
	else
		sqlite3_bind_null(statement, ++*parameter);
}

void bind_ends(sqlite3_stmt *statement, int *parameter, const struct ends *ends,
	       struct end_texts *texts)
{
	bind_text(statement, parameter, address_text(texts->local, ends->local));
	bind_number(statement, parameter, ntohs(ends->local_port));
	bind_text(statement, parameter, address_text(texts->remote, ends->remote));
	bind_number(statement, parameter, ntohs(ends->remote_port));
	bind_number(statement, parameter, ends->netns);
}
