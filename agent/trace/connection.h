/* SPDX-License-Identifier: Apache-2.0 */
/* TCP connections that have ended, one end each, as a probe tells of them (bpf/records.h). */
#ifndef CTXPROP_CONNECTION_H
#define CTXPROP_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>

#include "records.h"
#include "trace/service.h"

struct connection {
	struct record_connection record;
	struct service service; /* what runs at this end */
};

/* Is what was read from the ring a whole record of a connection? */
bool connection_is_record(const void *record, size_t size);

/* Fill in a connection, with what `services` know of its process. */
void connection_read(const struct record_connection *record, struct services *services,
		     struct connection *ret_connection);

/* "client" or "server"; NULL: not known. */
const char *connection_side_name(unsigned int side);

/* How it ended, as in docs/schema.md. */
const char *connection_end_name(unsigned int end);

#endif
