/* SPDX-License-Identifier: Apache-2.0 */
/* Is what the automaton says of a connection true? */
#ifndef CHECK_H
#define CHECK_H

#include "connection.h"

/*
 * Read it in pieces that end where `choices` says: what the automaton says of each block is
 * compared with what is known of it, and a field that is added where there is room has to be what a
 * server decodes at the end of that request, and all others as they were. Returns NULL, or what is
 * wrong.
 */
const char *check_connection(const struct connection *c, struct choices *choices);

/*
 * Read any bytes, as those of a client and of a server, whole and in pieces: the same events at the
 * same places. Returns NULL, or what is wrong.
 */
const char *check_bytes(const uint8_t *bytes, size_t len, struct choices *choices);

#endif
