// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/hash.h"
#include "profile/names/name_readers.h"
#include "profile/names/runtime_functions.h"

#define SLOTS        65536 /* code objects whose name is remembered; others take their place */
#define ASK_AGAIN_NS NS_PER_SECOND /* where there was no name; it costs as much each time */

struct known {
	struct named_code code;
	long number; /* 0: the slot is free */
	bool has_outer;
	__u64 until_ns; /* CLOCK_MONOTONIC; 0: as long as the object lives */
};

struct runtime_functions {
	struct unique texts;
	struct name_readers *readers;
	__u64 unread;
	struct known known[SLOTS];
};

struct runtime_functions *runtime_functions_new(void)
{
	struct runtime_functions *functions = calloc(1, sizeof(*functions));

	if (functions)
		functions->readers = name_readers_new();
	if (!functions || functions->readers)
		return functions;
	free(functions);
	return NULL;
}

void runtime_functions_free(struct runtime_functions *functions)
{
	if (functions) {
		name_readers_free(functions->readers);
		unique_free_all(&functions->texts);
	}
	free(functions);
}

/* Returns what read() does: below 0 the name is not that of the function. */
static int read_name(struct runtime_functions *functions, const struct named_code *code,
		     long *ret_number)
{
	const struct runtime_names *names = runtime_names_of(code->kind);
	char text[NAMED_TEXT_MAX];
	const int result = names ? name_readers_ask(functions->readers, code, text) : -EINVAL;
	long number;

	functions->unread += result == -EAGAIN || result == -EPIPE || result == -ETIMEDOUT;
	*ret_number = RUNTIME_FUNCTION_NONE;
	if (result < 0 && code->is_inner)
		return result;
	if (result < 0)
		snprintf(text, sizeof(text), "%s\n", names ? names->unknown : "[unknown code]");
	number = strings_add(&functions->texts, text);
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

static struct known *slot_of(struct runtime_functions *functions, const struct named_code *code)
{
	__u64 hash = hash_add(HASH_BEGIN, &code->address, sizeof(code->address));

	hash = hash_add(hash, &code->check, sizeof(code->check));
	hash = hash_add(hash, &code->tgid, sizeof(code->tgid));
	hash = hash_add(hash, &code->depth, sizeof(code->depth));
	return &functions->known[(hash ^ hash >> 32) % SLOTS];
}

long runtime_functions_get(struct runtime_functions *functions, const struct named_code *code,
			   bool *ret_has_outer)
{
	struct known *known = slot_of(functions, code);
	long number;
	int result;

	if (!is_known(known, code)) {
		result = read_name(functions, code, &number);
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

const struct unique *runtime_functions_texts(const struct runtime_functions *functions)
{
	return &functions->texts;
}

__u64 runtime_functions_unread(const struct runtime_functions *functions)
{
	return functions->unread;
}
