// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "runtimes/tokio/tokio.h"

/* From the name of a package, of which follows the version, to the folder of its files. */
#define VERSION_MAX 64

struct text {
	const char *at;
	size_t size;
};

#define TEXT(literal) ((struct text){literal, sizeof(literal) - 1})

/* What stands before a dash: packages whose files a panic names, with their versions. */
static const struct text packages[] = {TEXT("/tokio"), TEXT("/hyper"), TEXT("/async-executor"),
				       TEXT("/monoio"), TEXT("/glommio")};

/* The name that tokio gives to its threads: around the first dash. */
static const struct text thread_begins = TEXT("tokio");
static const struct text thread_ends = TEXT("-runtime-worker");

static bool ends_with(const char *begin, const char *end, const struct text *text)
{
	return (size_t)(end - begin) >= text->size &&
	       !memcmp(end - text->size, text->at, text->size);
}

static bool begins_with(const char *begin, const char *end, const struct text *text)
{
	return (size_t)(end - begin) >= text->size && !memcmp(begin, text->at, text->size);
}

/* "-1.24.2/src/", or what stands there instead of a version. */
static bool is_version(const char *dash, const char *end)
{
	static const struct text sources = TEXT("/src/");
	const char *last = end - dash > VERSION_MAX ? dash + VERSION_MAX : end;

	for (const char *at = dash + 1; at < last && isgraph((unsigned char)*at); at++)
		if (*at == '/' && begins_with(at, end, &sources))
			return true;
	return false;
}

static bool names_package(const char *begin, const char *dash, const char *end)
{
	for (size_t i = 0; i < sizeof(packages) / sizeof(packages[0]); i++)
		if (ends_with(begin, dash, &packages[i]))
			return is_version(dash, end);
	return false;
}

/* Of all that is searched for, a dash is what programs have least of. */
static bool has_names(const char *begin, size_t size)
{
	const char *end = begin + size, *dash = begin;

	while ((dash = memchr(dash, '-', (size_t)(end - dash)))) {
		if (names_package(begin, dash, end) || (ends_with(begin, dash, &thread_begins) &&
							begins_with(dash, end, &thread_ends)))
			return true;
		dash++;
	}
	return false;
}

int tokio_inspect(const struct elf_image *image)
{
	size_t left = TOKIO_SEARCHED_MAX, size;
	struct elf_section part;

	for (unsigned int i = 0; left && !elf_image_constant(image, i, &part); i++) {
		size = part.size < left ? part.size : left;
		if (has_names((const char *)part.data, size))
			return 0;
		left -= size;
	}
	return -ENOENT;
}
