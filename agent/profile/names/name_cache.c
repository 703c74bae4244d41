// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/foreign.h"
#include "base/list.h"
#include "base/unique.h"
#include "profile/names/name_cache.h"
#include "profile/take/files.h"

#define RANGES_MAX 131072 /* of all files: a few MiB, with their names */

struct range {
	__u32 start, end;
	const char *name;
};

/* Of one file, by their start. */
struct ranges {
	struct range *range;
	size_t count;
};

struct name_cache {
	struct ranges file[FILES_MAX];
	struct unique texts;
	size_t count;
	struct kernel_names kernel;
};

struct name_cache *name_cache_new(void)
{
	return calloc(1, sizeof(struct name_cache));
}

void name_cache_free(struct name_cache *known)
{
	if (!known)
		return;
	for (size_t i = 0; i < FILES_MAX; i++)
		free(known->file[i].range);
	unique_free_all(&known->texts);
	kernel_names_free(&known->kernel);
	free(known);
}

static bool begins_until(const void *entry, const void *key)
{
	return ((const struct range *)entry)->start <= *(const __u32 *)key;
}

/* How many begin at or before an address. */
static size_t count_until(const struct ranges *ranges, __u32 address)
{
	return list_count_while(ranges->range, ranges->count, sizeof(struct range), begins_until,
				&address);
}

bool name_cache_find(const struct name_cache *known, int file, __u32 address, const char **ret_name)
{
	const struct ranges *ranges = &known->file[file];
	const size_t until = count_until(ranges, address);
	const struct range *range = until ? &ranges->range[until - 1] : NULL;

	if (!range || address >= range->end)
		return false;
	*ret_name = range->name;
	return true;
}

/* Its number; -1: no memory. */
static long add_text(struct name_cache *known, const char *name)
{
	_cleanup_free_ char *copy = foreign_dup(name);

	return copy ? strings_add(&known->texts, copy) : -1;
}

int name_cache_add(struct name_cache *known, int file, __u32 start, __u32 end, const char *name)
{
	struct ranges *ranges = &known->file[file];
	const size_t at = count_until(ranges, start);
	const long number = name ? add_text(known, name) : 0;
	struct range *last =
	    number < 0 ? NULL : list_add(&ranges->range, &ranges->count, sizeof(*last));
	struct range *range = ranges->range + at;

	if (!last)
		return -ENOMEM;
	memmove(range + 1, range, (size_t)(last - range) * sizeof(*range));
	*range = (struct range){start, end, name ? known->texts.text[number] : NULL};
	known->count++;
	return 0;
}

unsigned int name_cache_used(const struct name_cache *known)
{
	return (unsigned int)(known->count * 100 / RANGES_MAX);
}

struct kernel_names *name_cache_kernel(struct name_cache *known)
{
	return &known->kernel;
}
