/* SPDX-License-Identifier: Apache-2.0 */
/* cmocka: the state of a group of tests on a real link. */
#ifndef CTXPROP_TEST_LINK_H
#define CTXPROP_TEST_LINK_H

#include "conn.h"

struct link {
	enum wire_kind kind;
	struct rig *rig;
	struct wire *wire; /* NULL: this machine cannot have one */
};

/* One setup for each kind of link (wire.h). */
int link_setup(void **state);
int link_setup_forwarded(void **state);
int link_setup_tun(void **state);
int link_teardown(void **state);

/* Can this link carry packets of such a shape? */
bool link_carries(const struct link *link, const struct shape *shape);

/* An ordinary shape that it carries. */
const struct shape *link_shape(const struct link *link);

/*
 * App bytes [from, to) are sent as the first fragment of a packet, all of whose bytes are an even
 * number on the wire. A packet that is whole leaves in its stead.
 */
void link_replaces_fragment(struct conn *c, size_t from, size_t to);

/* Open a connection for a test that needs the link; the test is skipped when there is none. */
void link_open(struct conn *c, const struct link *link, const struct opening *opening);

#endif
