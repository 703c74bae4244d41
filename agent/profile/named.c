// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/hash.h"
#include "profile/name_readers.h"
#include "profile/named.h"

#define SLOTS        65536 /* code objects whose name is remembered; others take their place */
#define ASK_AGAIN_NS NS_PER_SECOND /* where there was no name; it costs as much each time */

struct known {
	struct named_code code;
	long number; /* 0: the slot is free */
	bool has_outer;
	__u64 until_ns; /* CLOCK_MONOTONIC; 0: as long as the object lives */
};

struct named {
	struct unique texts;
	struct name_readers *readers;
	__u64 unread;
	struct known known[SLOTS];
};

struct named *named_new(void)
{
	struct named *named = calloc(1, sizeof(*named));

	if (named)
		named->readers = name_readers_new();
	if (!named || named->readers)
		return named;
	free(named);
	return NULL;
}

void named_free(struct named *named)
{
	if (named) {
		name_readers_free(named->readers);
		strings_free(&named->texts);
	}
	free(named);
}

/* Returns what read() does: below 0 the name is not that of the function. */
static int read_name(struct named *named, const struct named_code *code, long *ret_number)
{
	const struct runtime_names *names = runtime_names_of(code->kind);
	char text[NAMED_TEXT_MAX];
	const int result = names ? name_readers_ask(named->readers, code, text) : -EINVAL;
	long number;

	named->unread += result == -EAGAIN || result == -EPIPE || result == -ETIMEDOUT;
	*ret_number = NAMED_NOTHING;
	if (result < 0 && code->is_inner)
		return result;
	if (result < 0)
		snprintf(text, sizeof(text), "%s\n", names ? names->unknown : "[unknown code]");
	number = strings_add(&named->texts, text);
	*ret_number = number > 0 ? number : 0;
	return result;
}

static bool is_same(const struct named_code *a, const struct named_code *b)
{
	return a->tgid == b->tgid && a->life == b->life && a->address == b->address &&
	       a->check == b->check && a->kind == b->kind && a->depth == b->depth &&
	       a->is_inner == b->is_inner;
}

static bool is_known(const struct known *known, const struct named_code *code)
{
	return known->number && is_same(&known->code, code) &&
	       (!known->until_ns || clock_now_ns() < known->until_ns);
}

static struct known *slot_of(struct named *named, const struct named_code *code)
{
	__u64 hash = hash_add(HASH_BEGIN, &code->address, sizeof(code->address));

	hash = hash_add(hash, &code->check, sizeof(code->check));
	hash = hash_add(hash, &code->tgid, sizeof(code->tgid));
	hash = hash_add(hash, &code->depth, sizeof(code->depth));
	return &named->known[(hash ^ hash >> 32) % SLOTS];
}

long named_get(struct named *named, const struct named_code *code, bool *ret_has_outer)
{
	struct known *known = slot_of(named, code);
	long number;
	int result;

	if (!is_known(known, code)) {
		result = read_name(named, code, &number);
		*known = (struct known){.code = *code,
					.number = number,
					.has_outer = result > 0 && code->depth < NAMED_DEPTH_MAX,
					.until_ns = result < 0 && result != -ENOENT
							? clock_now_ns() + ASK_AGAIN_NS
							: 0};
	}
	*ret_has_outer = known->has_outer;
	return known->number;
}

const struct unique *named_texts(const struct named *named)
{
	return &named->texts;
}

__u64 named_unread(const struct named *named)
{
	return named->unread;
}
