/* SPDX-License-Identifier: Apache-2.0 */
/* cmocka: the state of a group of tests on a real link. */
#ifndef CTXPROP_TEST_LINK_H
#define CTXPROP_TEST_LINK_H

#include "conn.h"

struct link {
	struct rig *rig;
	struct wire *wire; /* NULL: this machine cannot have one */
};

int link_setup(void **state);
int link_teardown(void **state);

/* Open a connection for a test that needs the link; the test is skipped when there is none. */
void link_open(struct conn *c, const struct link *link, const struct opening *opening);

#endif
