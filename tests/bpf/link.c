// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "link.h"

int link_setup(void **state)
{
	struct link *link = calloc(1, sizeof(*link));
	void *rig;

	assert_non_null(link);
	rig_setup(&rig);
	link->rig = rig;
	link->wire = wire_open(rig_program(rig, HOOK_OUT, &shapes[0]));
	*state = link;
	return 0;
}

int link_teardown(void **state)
{
	struct link *link = *state;

	if (link->wire)
		wire_close(link->wire);
	rig_close(link->rig);
	free(link);
	return 0;
}

void link_open(struct conn *c, const struct link *link, const struct opening *opening)
{
	if (!link->wire)
		skip();
	conn_open(c, link->rig, opening);
}
