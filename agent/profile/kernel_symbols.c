// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "profile/kernel_symbols.h"

#define FIRST_ROOM 65536

struct symbol {
	__u64 address;
	size_t name; /* in the text */
};

struct kernel_symbols {
	struct symbol *symbol; /* by address */
	size_t count, room;
	struct buffer text;
};

static int make_room(struct kernel_symbols *symbols)
{
	size_t room = symbols->room ? 2 * symbols->room : FIRST_ROOM;
	struct symbol *more;

	if (symbols->count < symbols->room)
		return 0;
	more = reallocarray(symbols->symbol, room, sizeof(*more));
	if (!more)
		return -1;
	symbols->symbol = more;
	symbols->room = room;
	return 0;
}

/* "ADDRESS TYPE NAME[\t[MODULE]]"; only code counts, and "0" is what others may see. */
static int add_line(struct kernel_symbols *symbols, char *line)
{
	char *rest, *name;
	__u64 address = strtoull(line, &rest, 16);

	if (!address || *rest != ' ' || !strchr("tTwW", rest[1]) || rest[2] != ' ')
		return 0;
	name = rest + 3;
	name[strcspn(name, "\t\n")] = '\0';
	if (make_room(symbols))
		return -1;
	symbols->symbol[symbols->count++] = (struct symbol){address, symbols->text.size};
	buffer_add(&symbols->text, name, strlen(name) + 1);
	return symbols->text.failed ? -1 : 0;
}

static int compare(const void *a, const void *b)
{
	const struct symbol *first = a, *second = b;

	return (first->address > second->address) - (first->address < second->address);
}

static int read_all(struct kernel_symbols *symbols, FILE *file)
{
	char *line = NULL;
	size_t room = 0;
	int err = 0;

	while (!err && getline(&line, &room, file) > 0)
		err = add_line(symbols, line);
	free(line);
	return err;
}

struct kernel_symbols *kernel_symbols_new(void)
{
	struct kernel_symbols *symbols = calloc(1, sizeof(*symbols));
	FILE *file = fopen("/proc/kallsyms", "re");
	int err = symbols && file ? read_all(symbols, file) : -1;

	if (file)
		fclose(file);
	if (err) {
		kernel_symbols_free(symbols);
		return NULL;
	}
	if (symbols->count)
		qsort(symbols->symbol, symbols->count, sizeof(symbols->symbol[0]), compare);
	return symbols;
}

void kernel_symbols_free(struct kernel_symbols *symbols)
{
	if (!symbols)
		return;
	free(symbols->symbol);
	buffer_free(&symbols->text);
	free(symbols);
}

const char *kernel_symbols_find(const struct kernel_symbols *symbols, __u64 address)
{
	size_t low = 0, high = symbols->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols->symbol[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? symbols->text.text + symbols->symbol[low - 1].name : NULL;
}
