// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "link.h"

static int setup(void **state, enum wire_kind kind)
{
	const struct shape shape = {.ip_device = kind == WIRE_TUN};
	struct link *link = calloc(1, sizeof(*link));
	void *rig;

	assert_non_null(link);
	rig_setup(&rig);
	link->kind = kind;
	link->rig = rig;
	link->wire =
	    wire_open(kind, rig_program(rig, HOOK_OUT, &shape), rig_program(rig, HOOK_IN, &shape));
	*state = link;
	return 0;
}

int link_setup(void **state)
{
	return setup(state, WIRE_LOCAL);
}

int link_setup_forwarded(void **state)
{
	return setup(state, WIRE_FORWARDED);
}

int link_setup_tun(void **state)
{
	return setup(state, WIRE_TUN);
}

bool link_carries(const struct link *link, const struct shape *shape)
{
	if (link->kind == WIRE_FORWARDED)
		return !shape->ip_device && !shape->ipv6 && !shape->tags; /* see wire_open.c */
	return shape->ip_device == (link->kind == WIRE_TUN);
}

int link_teardown(void **state)
{
	struct link *link = *state;

	if (link->wire)
		wire_close(link->wire);
	free(link);
	return 0;
}

const struct shape *link_shape(const struct link *link)
{
	static const struct shape tun = {.ip_device = true, .options = 12};

	return link->kind == WIRE_TUN ? &tun : &ordinary.shape;
}

void link_open(struct conn *c, const struct link *link, const struct opening *opening)
{
	if (!link->wire)
		skip();
	conn_open(c, link->rig, opening);
}
