// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "runtime/looks.h"
#include "runtime/process.h"

struct look {
	struct look *next;
	__u32 tgid;
	off_t size; /* of its program */
};

static bool has(const struct looks *looks, __u32 tgid)
{
	const struct look *look = looks->first;

	while (look && look->tgid != tgid)
		look = look->next;
	return look;
}

/* The place of a program of this size: behind all that are as small. */
static struct look **place_of(struct looks *looks, off_t size)
{
	struct look **at = &looks->first;

	while (*at && (*at)->size <= size)
		at = &(*at)->next;
	return at;
}

int looks_add(struct looks *looks, __u32 tgid)
{
	char path[PROCESS_PATH_MAX];
	struct look *look, **at;
	struct stat file = {};

	if (has(looks, tgid))
		return 0;
	look = malloc(sizeof(*look));
	if (!look)
		return -ENOMEM;
	stat(process_exe(path, tgid), &file); /* if it is gone, that is soon found out */
	at = place_of(looks, file.st_size);
	*look = (struct look){.next = *at, .tgid = tgid, .size = file.st_size};
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
