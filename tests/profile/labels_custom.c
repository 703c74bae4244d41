// SPDX-License-Identifier: Apache-2.0
/*
 * Native custom labels, written only from the published layout. argv[2] says what is otherwise, but
 * of thread 3:
 *     bad   thread 0 points nowhere, thread 1 has labels without end, lengths of thread 2 lie
 *     lies  thread 0 points to itself, thread 1 to the kernel and to the end of what is mapped,
 *           thread 2 has the keys of others, and such that cannot be shown
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "labels_burn.h"

#define PAGE   4096
#define KERNEL 0xffff888000000000

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
static int is_bad, has_lies;
/* 46 bytes and a character of three: it does not fit into 47. */
static const char long_value[] = "0123456789012345678901234567890123456789012345\xe2\x82\xac";

static struct text text(const char *words)
{
	return (struct text){strlen(words), (const unsigned char *)words};
}

/* Two characters, behind which nothing is mapped. */
static const unsigned char *last_bytes(void)
{
	unsigned char *pages = mmap(NULL, (size_t)2 * PAGE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED || munmap(pages + PAGE, PAGE))
		return NULL;
	memset(pages + PAGE - 2, 'x', 2);
	return pages + PAGE - 2;
}

static void lie(int n)
{
	if (n == 0) {
		mine = (struct set){(struct label *)&mine, 4, 4};
	} else if (n == 1) {
		storage[1].key.buf = (const unsigned char *)KERNEL;
		storage[2].value = (struct text){3, last_bytes()};
		storage[3].value = (struct text){2, (const unsigned char *)KERNEL};
	} else if (n == 2) {
		storage[0] = (struct label){text("endpoint"), text("victim GET /job")};
		storage[2] = (struct label){text("trace_id"), text("0123")};
		storage[3] = (struct label){text("\x1b[2J"), text("\xe2\x80\xae\n\xff")};
	}
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
	if (has_lies)
		lie(n);
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

	is_bad = argc > 2 && !strcmp(argv[2], "bad");
	has_lies = argc > 2 && !strcmp(argv[2], "lies");
	return labels_main(&writer, argc, argv);
}
#endif
