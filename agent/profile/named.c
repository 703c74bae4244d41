// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "profile/named.h"

#define SLOTS 65536 /* code objects whose name is remembered; others take their place */

struct known {
	struct named_code code;
	long number; /* 0: the slot is free */
	bool has_outer;
};

struct named {
	struct strings texts;
	struct known known[SLOTS];
};

struct named *named_new(void)
{
	return calloc(1, sizeof(struct named));
}

void named_free(struct named *named)
{
	if (named)
		strings_free(&named->texts);
	free(named);
}

static int read_text(const struct runtime_names *names, const struct named_code *code,
		     char *ret_text)
{
	_cleanup_close_ int memory = -1;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u/mem", code->tgid);
	memory = open(path, O_RDONLY | O_CLOEXEC);
	return memory < 0 ? -1 : names->read(memory, code, ret_text);
}

/* Returns what read() does: below 0 the name is not that of the function. */
static int read_name(struct named *named, const struct named_code *code, long *ret_number)
{
	const struct runtime_names *names = runtime_names_of(code->kind);
	char text[NAMED_TEXT_MAX];
	const int result = names ? read_text(names, code, text) : -1;
	long number;

	if (result < 0)
		snprintf(text, sizeof(text), "%s\n", names ? names->unknown : "[unknown code]");
	number = strings_add(&named->texts, text);
	*ret_number = number > 0 ? number : 0;
	return result;
}

static bool is_same(const struct named_code *a, const struct named_code *b)
{
	return a->tgid == b->tgid && a->life == b->life && a->address == b->address &&
	       a->check == b->check && a->kind == b->kind && a->depth == b->depth;
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

	if (known->number && is_same(&known->code, code)) {
		*ret_has_outer = known->has_outer;
		return known->number;
	}
	result = read_name(named, code, &number);
	*ret_has_outer = result > 0;
	if (result >= 0)
		*known = (struct known){*code, number, result > 0};
	return number;
}

const struct strings *named_texts(const struct named *named)
{
	return &named->texts;
}
