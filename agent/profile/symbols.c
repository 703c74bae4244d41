// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>

#include "base/list.h"
#include "profile/symbols.h"

struct symbols {
	struct elf_function_symbol *symbol; /* by their start */
	size_t count, room;
};

static int add(const struct elf_function_symbol *function, void *data)
{
	struct symbols *symbols = data;
	struct elf_function_symbol *list =
	    list_make_room(symbols->symbol, symbols->count, &symbols->room, sizeof(*list));

	if (!list)
		return -ENOMEM;
	symbols->symbol = list;
	list[symbols->count++] = *function;
	return 0;
}

/* By start, and of one start the longest first: others may be parts of it. */
static int compare(const void *a, const void *b)
{
	const struct elf_function_symbol *first = a, *second = b;

	if (first->start != second->start)
		return first->start < second->start ? -1 : 1;
	return (first->size < second->size) - (first->size > second->size);
}

int symbols_new(struct elf_image *image, struct symbols **ret_symbols)
{
	struct symbols *symbols = calloc(1, sizeof(*symbols));
	int err = symbols ? elf_image_each_function(image, add, symbols) : -ENOMEM;

	if (err) {
		symbols_free(symbols);
		return err;
	}
	if (symbols->count)
		qsort(symbols->symbol, symbols->count, sizeof(symbols->symbol[0]), compare);
	*ret_symbols = symbols;
	return 0;
}

void symbols_free(struct symbols *symbols)
{
	if (symbols)
		free(symbols->symbol);
	free(symbols);
}

static bool begins_until(const void *entry, const void *key)
{
	return ((const struct elf_function_symbol *)entry)->start <= *(const __u64 *)key;
}

struct symbol_range symbols_find(const struct symbols *symbols, __u64 address)
{
	size_t at = list_count_while(symbols->symbol, symbols->count, sizeof(*symbols->symbol),
				     begins_until, &address);
	const __u64 next = at < symbols->count ? symbols->symbol[at].start : ~0ULL;
	const struct elf_function_symbol *symbol;
	__u64 end;

	if (!at)
		return (struct symbol_range){NULL, 0, next};
	/* The first one of this start is the longest. */
	for (at--; at && symbols->symbol[at - 1].start == symbols->symbol[at].start;)
		at--;
	symbol = &symbols->symbol[at];
	if (address - symbol->start >= symbol->size)
		return (struct symbol_range){NULL, symbol->start + symbol->size, next};
	end = symbol->size < next - symbol->start ? symbol->start + symbol->size : next;
	return (struct symbol_range){symbol->name, symbol->start, end};
}
