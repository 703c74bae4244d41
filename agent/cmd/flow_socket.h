/* SPDX-License-Identifier: Apache-2.0 */
/* The socket at our end of a connection, as `ctxprop flows` shows it. */
#ifndef CTXPROP_FLOW_SOCKET_H
#define CTXPROP_FLOW_SOCKET_H

#include <jansson.h>

#include "cmd/command.h"
#include "engine/record.h"

/* Print what the flags ask for behind a line of text, without ending it. */
void flow_socket_print(const struct record_entry *socket, const struct command_flags *flags,
		       __u64 now_ns);

/* All of it; null without a socket. */
json_t *flow_socket_json(const struct record_entry *socket, __u64 now_ns);

#endif
