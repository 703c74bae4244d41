// SPDX-License-Identifier: Apache-2.0
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/hash.h"
#include "base/list.h"
#include "profile/names/kernel_symbols.h"

#define NO_OWNER   UINT32_MAX
#define PAGE_SHIFT 12

struct symbol {
	__u64 address;
	__u32 name;  /* in the text */
	__u32 owner; /* its module, in the text; 0: the kernel itself; NO_OWNER: a BPF program */
};

struct kernel_symbols {
	struct symbol *symbol; /* by address */
	size_t count;
	struct buffer text;
	__u32 module; /* of the line before, in the text; 0: none */
};

static __u32 add_text(struct kernel_symbols *symbols, const char *text)
{
	const size_t at = symbols->text.size;

	buffer_add(&symbols->text, text, strlen(text) + 1);
	return (__u32)at;
}

/* Of "[MODULE]", which is the same for many lines; what the kernel makes as it runs has "[bpf]". */
static __u32 owner_of(struct kernel_symbols *symbols, const char *owner)
{
	if (!strncmp(owner, "[bpf]", 5) || !strncmp(owner, "[__builtin", 10))
		return NO_OWNER;
	if (!symbols->module || strcmp(symbols->text.text + symbols->module, owner) != 0)
		symbols->module = add_text(symbols, owner);
	return symbols->module;
}

/* "ADDRESS TYPE NAME[\t[MODULE]]"; only code counts, and "0" is what others may see. */
static int add_line(struct kernel_symbols *symbols, char *line)
{
	char *rest, *name, *owner;
	__u64 address = strtoull(line, &rest, 16);
	struct symbol *symbol;

	if (!address || *rest != ' ' || !strchr("tTwW", rest[1]) || rest[2] != ' ')
		return 0;
	name = rest + 3;
	owner = name + strcspn(name, "\t\n");
	owner += *owner == '\t' ? (*owner = '\0', 1) : 0;
	owner[strcspn(owner, "\n")] = '\0';
	symbol = list_add(&symbols->symbol, &symbols->count, sizeof(*symbol));
	if (!symbol)
		return -1;
	*symbol = (struct symbol){.address = address, .name = add_text(symbols, name)};
	if (*owner)
		symbol->owner = owner_of(symbols, owner);
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

static bool begins_until(const void *entry, const void *key)
{
	return ((const struct symbol *)entry)->address <= *(const __u64 *)key;
}

/* The last symbol at or before an address. NULL: there is none. */
static const struct symbol *find(const struct kernel_symbols *symbols, __u64 address)
{
	const size_t count = list_count_while(symbols->symbol, symbols->count,
					      sizeof(struct symbol), begins_until, &address);

	return count ? &symbols->symbol[count - 1] : NULL;
}

/* Is it certain that there is no other code between a function and the next one? */
static bool is_followed(const struct kernel_symbols *symbols, const struct symbol *symbol)
{
	return symbol + 1 < symbols->symbol + symbols->count && symbol->owner != NO_OWNER &&
	       symbol[1].owner == symbol->owner;
}

/*
 * /proc/kallsyms has no sizes: an address behind the last function of the kernel or of a module
 * counts as that function's only within the page in which it begins.
 */
const char *kernel_symbols_find(const struct kernel_symbols *symbols, __u64 address)
{
	const struct symbol *symbol = find(symbols, address);

	if (!symbol || (symbol->owner != NO_OWNER && !is_followed(symbols, symbol) &&
			symbol->address >> PAGE_SHIFT != address >> PAGE_SHIFT))
		return NULL;
	return symbols->text.text + symbol->name;
}

bool kernel_symbols_lasts(const struct kernel_symbols *symbols, __u64 address)
{
	const struct symbol *symbol = find(symbols, address);

	return symbol && is_followed(symbols, symbol);
}

/* "NAME SIZE USERS BY STATE ADDRESS" */
static __u64 hash_line(__u64 hash, const char *line)
{
	char name[64] = "", size[32] = "", address[32] = "";

	if (sscanf(line, "%63s %31s %*s %*s %*s %31s", name, size, address) != 3)
		return hash;
	hash = hash_add(hash, name, sizeof(name));
	hash = hash_add(hash, size, sizeof(size));
	return hash_add(hash, address, sizeof(address));
}

__u64 kernel_modules(void)
{
	FILE *file = fopen("/proc/modules", "re");
	__u64 hash = HASH_BEGIN;
	char *line = NULL;
	size_t room = 0;

	while (file && getline(&line, &room, file) > 0)
		hash = hash_line(hash, line);
	free(line);
	if (file)
		fclose(file);
	return hash;
}
