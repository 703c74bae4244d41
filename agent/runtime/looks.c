// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>

#include "runtime/looks.h"
#include "inspect/process.h"

/* What comes first is less. */
enum rank {
	RANK_SPECIAL,
	RANK_NEW,
	RANK_PLAIN,
	RANK_KNOWN,
};

struct look {
	struct look *next;
	__u32 tgid;
	enum rank rank;
	__u64 size;  /* of its program, in bytes */
	__u64 added; /* how many had been asked for before */
};

static struct look **find(struct looks *looks, __u32 tgid)
{
	struct look **at = &looks->first;

	while (*at && (*at)->tgid != tgid)
		at = &(*at)->next;
	return at;
}

static bool is_behind(const struct look *look, const struct look *other)
{
	return look->rank == other->rank ? look->size > other->size : look->rank > other->rank;
}

/* Behind all that are as urgent. */
static void put(struct looks *looks, struct look *look)
{
	struct look **at = &looks->first;

	while (*at && !is_behind(*at, look))
		at = &(*at)->next;
	look->next = *at;
	*at = look;
}

static struct look *take_out(struct look **at)
{
	struct look *look = *at;

	*at = look->next;
	return look;
}

static struct looks_met *find_met(struct looks *looks, dev_t device, ino_t inode)
{
	for (int i = 0; i < LOOKS_MET_MAX; i++)
		if (looks->met[i].inode == inode && looks->met[i].device == device)
			return &looks->met[i];
	return NULL;
}

static enum rank rank_of(struct looks *looks, const struct process_program *program, bool is_known)
{
	const struct looks_met *met;

	if (is_known)
		return RANK_KNOWN;
	met = program->inode ? find_met(looks, program->device, program->inode) : NULL;
	if (!met)
		return RANK_NEW;
	return met->is_special ? RANK_SPECIAL : RANK_PLAIN;
}

/* The process may have become another program since it was asked for. */
static void rank_again(struct looks *looks, struct look **at, bool is_known)
{
	struct process_program program = {};
	struct look *look = take_out(at);

	process_program(look->tgid, &program);
	look->rank = rank_of(looks, &program, is_known);
	look->size = program.size;
	put(looks, look);
}

int looks_add(struct looks *looks, __u32 tgid, bool is_known)
{
	struct process_program program = {};
	struct look *look, **at = find(looks, tgid);

	if (*at) {
		rank_again(looks, at, is_known);
		return 0;
	}
	look = malloc(sizeof(*look));
	if (!look)
		return -ENOMEM;
	process_program(tgid, &program); /* if it is gone, that is soon found out */
	*look = (struct look){.tgid = tgid,
			      .rank = rank_of(looks, &program, is_known),
			      .size = program.size,
			      .added = looks->added++};
	put(looks, look);
	return 0;
}

void looks_remember(struct looks *looks, const struct stat *program, bool is_special)
{
	struct looks_met *met = find_met(looks, program->st_dev, program->st_ino);

	if (!met)
		met = &looks->met[looks->met_next++ % LOOKS_MET_MAX];
	*met = (struct looks_met){program->st_dev, program->st_ino, is_special};
}

static bool came_before(const struct look *a, const struct look *b)
{
	return a->added < b->added;
}

/* It came after the other one, and is as urgent. */
static bool came_after(const struct look *a, const struct look *b)
{
	return a->rank == b->rank && a->added > b->added;
}

/* Of all the one that is better than the first one, and better than the others that are. */
static struct look **find_best(struct looks *looks,
			       bool (*is_better)(const struct look *a, const struct look *b))
{
	struct look **best = &looks->first, **at;

	for (at = &looks->first; *at; at = &(*at)->next)
		if (is_better(*at, *best))
			best = at;
	return best;
}

static struct look **find_next(struct looks *looks)
{
	switch (looks->taken++ % 4) {
	case 1:
		return find_best(looks, came_after);
	case 3:
		return find_best(looks, came_before);
	default:
		return &looks->first;
	}
}

bool looks_take(struct looks *looks, __u32 *ret_tgid)
{
	struct look *look;

	if (!looks->first)
		return false;
	look = take_out(find_next(looks));
	*ret_tgid = look->tgid;
	free(look);
	return true;
}

void looks_clear(struct looks *looks)
{
	while (looks->first)
		free(take_out(&looks->first));
}
