// SPDX-License-Identifier: Apache-2.0
/* Go's table of functions: read as it was written, and harmless when damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "runtimes/go/pclntab.h"

#define TEXT      0x401000
#define FUNCTIONS 3
#define STEP      0x40 /* bytes of each function */
#define DAMAGED   20000

static const char *const names[FUNCTIONS] = {"runtime.gogo", "main.main",
					     "net/http.(*persistConn).roundTrip"};

/* Header, names, functab with its last end, descriptions: in the order of Go's linker. */
struct table {
	__u32 magic;
	__u8 zeros[2], quantum, pointer_size;
	__u64 functions, files, text, names_at, cu_at, files_at, pc_at, table_at;
	char names[FUNCTIONS][64];
	struct {
		__u32 start, description;
	} entry[FUNCTIONS];
	__u32 end;
	struct {
		__u32 start, name;
	} description[FUNCTIONS];
} __attribute__((packed));

static struct table written(__u32 magic)
{
	struct table t = {
	    .magic = magic,
	    .quantum = 1,
	    .pointer_size = 8,
	    .functions = FUNCTIONS,
	    .text = TEXT,
	    .names_at = offsetof(struct table, names),
	    .table_at = offsetof(struct table, entry),
	    .end = FUNCTIONS * STEP,
	};

	for (__u32 i = 0; i < FUNCTIONS; i++) {
		strcpy(t.names[i], names[i]);
		t.entry[i].start = i * STEP;
		t.entry[i].description =
		    (__u32)(offsetof(struct table, description[i]) - t.table_at);
		t.description[i].name = (__u32)(i * sizeof(t.names[0]));
	}
	return t;
}

static void read_back(const struct table *t)
{
	struct pclntab table;
	struct pclntab_function function;

	assert_int_equal(pclntab_open(t, sizeof(*t), &table), 0);
	for (__u64 i = 0; i < FUNCTIONS; i++) {
		assert_int_equal(pclntab_get(&table, i, &function), 0);
		assert_string_equal(function.name, names[i]);
		assert_int_equal(function.start, TEXT + i * STEP);
		assert_int_equal(function.end, TEXT + (i + 1) * STEP);
	}
	assert_int_equal(pclntab_get(&table, FUNCTIONS, &function), -ENOENT);
}

static void read_as_written(void **state)
{
	struct table go118 = written(0xfffffff0), go120 = written(0xfffffff1);

	(void)state;
	read_back(&go118);
	read_back(&go120);
}

static void not_such_a_table(void **state)
{
	struct table go116 = written(0xfffffffa), other = written(0xfffffff1);
	struct pclntab table;

	(void)state;
	assert_int_equal(pclntab_open(&go116, sizeof(go116), &table), -EINVAL);
	other.pointer_size = 4;
	assert_int_equal(pclntab_open(&other, sizeof(other), &table), -EINVAL);
}

/* Whatever is found stands in the table: sanitizers see what is read beyond it. */
static void read_all(const __u8 *data, size_t size)
{
	struct pclntab table;
	struct pclntab_function function;
	size_t letters = 0;

	if (pclntab_open(data, size, &table))
		return;
	for (__u64 i = 0; !pclntab_get(&table, i, &function); i++)
		letters += strlen(function.name);
	assert_true(letters <= size * FUNCTIONS);
}

static void damaged(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= DAMAGED; seed++) {
		struct random r = {.state = seed};
		struct table t = written(0xfffffff1);
		size_t size = 1 + random_next(&r) % sizeof(t);
		__u8 *data = malloc(size);

		if (seed % 2)
			size = sizeof(t), data = realloc(data, size);
		memcpy(data, &t, size);
		for (int i = 0; i < 4; i++)
			data[random_next(&r) % size] = (__u8)random_next(&r);
		read_all(data, size);
		free(data);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(read_as_written),
	    cmocka_unit_test(not_such_a_table),
	    cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
