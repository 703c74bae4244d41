// SPDX-License-Identifier: Apache-2.0
/*
 * Native custom labels, written only from the published layout. With "bad" in argv[2] they are not
 * what they should be: thread 0 points nowhere, thread 1 has labels without end, lengths of thread
 * 2 lie, thread 3 is as it should be.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "labels_burn.h"

struct text {
	size_t len;
	const unsigned char *buf;
};

struct label {
	struct text key, value;
};

struct set {
	struct label *storage;
	size_t count, capacity;
};

const uint32_t custom_labels_abi_version = 1;
#ifdef HIDDEN
__attribute__((visibility("hidden")))
#endif
__thread struct set *custom_labels_current_set;

static __thread struct set mine;
static __thread struct label storage[4];
static __thread unsigned char value[16];
static int is_bad;
/* 46 bytes and a character of three: it does not fit into 47. */
static const char long_value[] = "0123456789012345678901234567890123456789012345\xe2\x82\xac";

static struct text text(const char *words)
{
	return (struct text){strlen(words), (const unsigned char *)words};
}

/* A key that is NULL is skipped, and of two the first one counts. */
static void begin(int n)
{
	snprintf((char *)value, sizeof(value), "t%d", n);
	storage[0] = (struct label){{0, NULL}, text("nothing")};
	storage[1] = (struct label){text("thread"), text((const char *)value)};
	storage[2] = (struct label){text("thread"), text("second")};
	storage[3] = (struct label){text("long"), text(long_value)};
	mine = (struct set){storage, 4, 4};
	if (is_bad && n == 0)
		mine.storage = (struct label *)0x123456789000;
	if (is_bad && n == 1)
		mine.count = SIZE_MAX;
	if (is_bad && n == 2)
		storage[1].key.len = storage[1].value.len = SIZE_MAX;
}

static void set(int n)
{
	custom_labels_current_set =
	    is_bad && n == 0 && mine.count++ % 2 ? (struct set *)0x7fffffffffff : &mine;
}

static void clear(int n)
{
	(void)n;
	custom_labels_current_set = NULL;
}

#ifdef LIBRARY
/* For labels_library.c. */
const struct labels_writer labels_library_writer;
const struct labels_writer labels_library_writer = {begin, set, clear};
#else
int main(int argc, char **argv)
{
	static const struct labels_writer writer = {begin, set, clear};

	is_bad = argc > 2;
	return labels_main(&writer, argc, argv);
}
#endif
