// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>

#include "runtime/looks.h"
#include "inspect/process.h"

struct look {
	struct look *next;
	__u32 tgid;
	__u64 size; /* of its program, in bytes */
};

static bool has(const struct looks *looks, __u32 tgid)
{
	const struct look *look = looks->first;

	while (look && look->tgid != tgid)
		look = look->next;
	return look;
}

/* The place of a program of this size: behind all that are as small. */
static struct look **place_of(struct looks *looks, __u64 size)
{
	struct look **at = &looks->first;

	while (*at && (*at)->size <= size)
		at = &(*at)->next;
	return at;
}

int looks_add(struct looks *looks, __u32 tgid)
{
	struct process_program program = {};
	struct look *look, **at;

	if (has(looks, tgid))
		return 0;
	look = malloc(sizeof(*look));
	if (!look)
		return -ENOMEM;
	process_program(tgid, &program); /* if it is gone, that is soon found out */
	at = place_of(looks, program.size);
	*look = (struct look){.next = *at, .tgid = tgid, .size = program.size};
	*at = look;
	return 0;
}

bool looks_take(struct looks *looks, __u32 *ret_tgid)
{
	struct look *look = looks->first;

	if (!look)
		return false;
	looks->first = look->next;
	*ret_tgid = look->tgid;
	free(look);
	return true;
}

void looks_clear(struct looks *looks)
{
	__u32 tgid;

	while (looks_take(looks, &tgid))
		;
}
