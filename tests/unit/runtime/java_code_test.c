// SPDX-License-Identifier: Apache-2.0
/* Where the virtual machine of Java that is installed has its compiled code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdbool.h>

#include "child.h"
#include "inspect/library.h"
#include "inspect/process_memory.h"
#include "program.h"
#include "runtimes/java/hotspot.h"
#include "runtimes/java/java.h"

#define OFFSET_MAX 512 /* in blobs and in what describes classes */

/* What is told of a process that runs Sleep.java; its memory is read by `told`. */
static int look(const char *option, void (*told)(int memory, const struct java_code *code))
{
	pid_t pid = child_start((const char *const[]){JAVA, option, SLEEP, NULL});
	_cleanup_subject_ struct subject subject = subject_of(pid);
	_cleanup_library_ struct library library = {};
	struct hotspot_tables tables;
	struct hotspot hotspot;
	struct java_code code;
	int err = library_open(&subject, java_wanted[0].prefix, &library);

	if (!err) {
		hotspot_find(library.image, &tables);
		err = hotspot_open(subject.memory_fd, &tables, library.bias, &hotspot);
	}
	if (!err)
		err = hotspot_code(&hotspot, &code);
	if (!err)
		told(subject.memory_fd, &code);
	child_end(pid);
	return err;
}

static const struct java_heap *heap_of(const struct java_code *code, __u64 address)
{
	for (size_t i = 0; i < JAVA_HEAPS_MAX; i++)
		if (address - code->heap[i].start < code->heap[i].size)
			return &code->heap[i];
	return NULL;
}

static size_t count_heaps(const struct java_code *code)
{
	size_t count = 0;

	for (size_t i = 0; i < JAVA_HEAPS_MAX; i++)
		count += code->heap[i].size != 0;
	return count;
}

/* The text that the blob has as its name which has the code at this address. */
static void blob_name(int memory, const struct java_code *code, __u64 address, char *ret,
		      size_t size)
{
	const struct java_heap *heap = heap_of(code, address);
	__u64 segment;
	__u8 back = 1;

	assert_non_null(heap);
	segment = (address - heap->start) >> code->segment_shift;
	while (back) {
		assert_int_equal(
		    process_memory_read(memory, heap->segments + segment, &back, sizeof(back)), 0);
		assert_int_not_equal(back, UINT8_MAX);
		segment -= back;
	}
	address = heap->start + (segment << code->segment_shift) + code->block_header;
	process_memory_text(memory, process_memory_u64(memory, address + code->name), ret, size);
}

static void check(int memory, const struct java_code *code)
{
	const __u16 offsets[] = {code->name,         code->frame_size, code->frame_complete,
				 code->method,       code->constants,  code->name_index,
				 code->const_method, code->holder,     code->source};
	char name[32];

	for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++)
		assert_true(offsets[i] && offsets[i] < OFFSET_MAX);
	assert_true(!code->code_begin != !code->code_offset);
	assert_int_equal(code->scopes.compilation != 0, JAVA_VERSION < 23 || JAVA_VERSION > 24);
	for (size_t i = 0; i < JAVA_HEAPS_MAX; i++)
		assert_true(!code->heap[i].size ||
			    (code->heap[i].start >= code->start &&
			     code->heap[i].start + code->heap[i].size <= code->start + code->size));
	blob_name(memory, code, code->interpreter, name, sizeof(name));
	assert_string_equal(name, "Interpreter");
	blob_name(memory, code, code->interpreter + code->interpreter_size - 1, name, sizeof(name));
	assert_string_equal(name, "Interpreter");
	blob_name(memory, code, code->call_return, name, sizeof(name));
	name[sizeof("StubRoutines") - 1] = '\0';
	assert_string_equal(name, "StubRoutines");
}

static void check_one(int memory, const struct java_code *code)
{
	assert_int_equal(count_heaps(code), 1);
	check(memory, code);
}

static void check_three(int memory, const struct java_code *code)
{
	assert_int_equal(count_heaps(code), JAVA_HEAPS_MAX);
	check(memory, code);
}

static void code_in_one_part(void **state)
{
	(void)state;
	assert_int_equal(look("-XX:-SegmentedCodeCache", check_one), 0);
}

static void code_in_three_parts(void **state)
{
	(void)state;
	assert_int_equal(look("-XX:+SegmentedCodeCache", check_three), 0);
}

/* Threads and futures cannot be told then, but code can. */
static void objects_of_another_kind(void **state)
{
	(void)state;
	assert_int_equal(look("-XX:-UseCompressedOops", check), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(code_in_one_part),
	    cmocka_unit_test(code_in_three_parts),
	    cmocka_unit_test(objects_of_another_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
