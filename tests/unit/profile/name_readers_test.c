// SPDX-License-Identifier: Apache-2.0
/* Readers of names that do what a process they read might bring them to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/futex.h>

#include "base/clock.h"
#include "inspect/process_memory.h"
#include "profile/names/name_reader.h"
#include "profile/names/name_readers.h"
#include "profile/names/runtime_functions.h"

#define SOON_NS (NS_PER_SECOND / 20)

/* Which reader is asked. */
enum { HONEST, STALE, OTHER_ERROR, SPINS, HANGS, CRASHES, OPENS, OUTER, LIES };

static const char name[] = "Shop.total";

/* The name, as the process has it. */
static int honest(int memory, const struct named_code *code, char *ret_text)
{
	char there[sizeof(name)];

	process_memory_text(memory, code->address, there, sizeof(there));
	snprintf(ret_text, NAMED_TEXT_MAX, "%s\nshop.py\n7", there);
	return 0;
}

static int stale(int memory, const struct named_code *code, char *ret_text)
{
	(void)memory;
	(void)ret_text;
	return code->kind == STALE ? -ESTALE : -ENOMEM;
}

static int spins(int memory, const struct named_code *code, char *ret_text)
{
	volatile __u64 turns = code->address;

	(void)memory;
	(void)ret_text;
	while (turns | 1)
		turns = turns + 2;
	return 0;
}

/* As a page does that never comes. */
static int hangs(int memory, const struct named_code *code, char *ret_text)
{
	__u32 word = code->kind;

	(void)memory;
	(void)ret_text;
	syscall(SYS_futex, &word, FUTEX_WAIT, word, NULL, NULL, 0);
	return -EINVAL;
}

static int crashes(int memory, const struct named_code *code, char *ret_text)
{
	(void)memory;
	(void)code;
	(void)ret_text;
	abort();
}

static int opens(int memory, const struct named_code *code, char *ret_text)
{
	const int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);

	(void)memory;
	snprintf(ret_text, NAMED_TEXT_MAX, "%d\n%d", fd, code->kind);
	return 0;
}

static int outer(int memory, const struct named_code *code, char *ret_text)
{
	return honest(memory, code, ret_text) + 1;
}

/* What it says is at `address` in memory: it is the first thing that is no text. */
static int lies(int memory, const struct named_code *code, char *ret_text)
{
	process_memory_text(memory, code->address, ret_text, NAMED_TEXT_MAX);
	return code->layout;
}

static const struct runtime_names readers_of[] = {
    [HONEST] = {.unknown = "[unknown]", .read = honest},
    [STALE] = {.unknown = "[unknown]", .read = stale},
    [OTHER_ERROR] = {.unknown = "[unknown]", .read = stale},
    [SPINS] = {.unknown = "[unknown]", .read = spins},
    [HANGS] = {.unknown = "[unknown]", .read = hangs},
    [CRASHES] = {.unknown = "[unknown]", .read = crashes},
    [OPENS] = {.unknown = "[unknown]", .read = opens},
    [OUTER] = {.unknown = "[unknown]", .read = outer},
    [LIES] = {.unknown = "[unknown]", .read = lies},
};

/* Instead of runtimes/names.c. */
const struct runtime_names *runtime_names_of(__u8 kind)
{
	return kind <= LIES ? &readers_of[kind] : NULL;
}

static int make_readers(void **state)
{
	*state = name_readers_new();
	return !*state;
}

static int free_readers(void **state)
{
	name_readers_free(*state);
	return 0;
}

/* A function of this very process, whose program has changed `life` times. */
static struct named_code code_of(__u8 kind, __u64 life)
{
	return (struct named_code){
	    .tgid = (__u32)getpid(), .life = life, .kind = kind, .address = (uintptr_t)name};
}

static int ask(void **state, __u8 kind, __u64 life, char *ret_text)
{
	const struct named_code code = code_of(kind, life);

	return name_readers_ask(*state, &code, ret_text);
}

static void assert_reads(void **state, __u64 life)
{
	char text[NAMED_TEXT_MAX];

	assert_int_equal(ask(state, HONEST, life, text), 0);
	assert_string_equal(text, "Shop.total\nshop.py\n7");
}

static void a_name(void **state)
{
	char text[NAMED_TEXT_MAX];

	for (int i = 0; i < 3; i++)
		assert_reads(state, 1);
	assert_int_equal(ask(state, STALE, 1, text), -ESTALE);
	assert_int_equal(ask(state, OTHER_ERROR, 1, text), -EINVAL);
	assert_int_equal(ask(state, LIES + 1, 1, text), -EINVAL);
	assert_reads(state, 1);
}

/* It is asked no more; others are. */
static void assert_paused(void **state, __u64 life)
{
	const __u64 begin_ns = clock_now_ns();
	char text[NAMED_TEXT_MAX];

	assert_int_equal(ask(state, HONEST, life, text), -EAGAIN);
	assert_true(clock_now_ns() - begin_ns < SOON_NS);
	assert_reads(state, life + 1);
}

static void no_answer(void **state)
{
	char text[NAMED_TEXT_MAX];

	assert_int_equal(ask(state, HANGS, 1, text), -ETIMEDOUT);
	assert_paused(state, 1);
	assert_int_equal(ask(state, SPINS, 3, text), -ETIMEDOUT);
	assert_paused(state, 3);
}

static void an_end(void **state)
{
	char text[NAMED_TEXT_MAX];

	assert_int_equal(ask(state, CRASHES, 1, text), -EPIPE);
	assert_paused(state, 1);
	assert_int_equal(ask(state, OPENS, 3, text), -EPIPE);
	assert_paused(state, 3);
}

static void a_pause_ends(void **state)
{
	char text[NAMED_TEXT_MAX];

	assert_int_equal(ask(state, CRASHES, 1, text), -EPIPE);
	sleep(NAME_READERS_PAUSE_S);
	usleep(SOON_NS / 1000);
	assert_reads(state, 1);
	assert_int_equal(ask(state, CRASHES, 1, text), -EPIPE);
	sleep(NAME_READERS_PAUSE_S); /* the next one is longer */
	usleep(SOON_NS / 1000);
	assert_int_equal(ask(state, HONEST, 1, text), -EAGAIN);
}

/* What a sandbox says that was taken over. */
static void lies_are_seen(void **state)
{
	static const char *const texts[] = {
	    "",        "no file",   "\nno function", "a\nb\n",      "a\nb\nc", "a\nb\n-1",
	    "a\nb\n0", "a\nb\n1\n", "a\tb\nc",       "a\n\x1b[31m", "\xff\nb", "a\nb\n99999999999",
	};
	char text[NAMED_TEXT_MAX];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct named_code code = code_of(LIES, i);

		code.address = (uintptr_t)texts[i];
		assert_int_equal(name_readers_ask(*state, &code, text), -EPIPE);
	}
	for (size_t result = 2; result < 4; result++) {
		struct named_code code = code_of(LIES, 100 + result);

		code.address = (uintptr_t) "a\nb";
		code.layout = (__u8)result;
		assert_int_equal(name_readers_ask(*state, &code, text), -EPIPE);
	}
}

/* How many processes are this one's, as far as they run. */
static size_t count_children(void)
{
	char path[64], pids[4096];
	size_t count = 0;
	ssize_t size;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		skip(); /* the kernel does not tell */
	size = read(fd, pids, sizeof(pids));
	close(fd);
	for (ssize_t i = 0; i < size; i++)
		count += pids[i] == ' ';
	return count;
}

/* Of more processes than are remembered, some are read at a time. */
static void many_processes(void **state)
{
	for (__u64 life = 0; life < 300; life++)
		assert_reads(state, life);
	assert_in_range(count_children(), 1, NAME_READERS_MAX);
	assert_reads(state, 0);
}

/* One that is in another one, and so on, for ever. */
static void depth_ends(void **state)
{
	struct named_code code = code_of(OUTER, 1);
	struct runtime_functions *named = runtime_functions_new();
	bool has_outer = true;
	int count = 0;

	(void)state;
	assert_non_null(named);
	for (; has_outer && count < 1000; count++, code.depth++)
		assert_int_equal(runtime_functions_get(named, &code, &has_outer), 1);
	assert_int_equal(count, NAMED_DEPTH_MAX + 1);
	assert_int_equal(runtime_functions_unread(named), 0);
	runtime_functions_free(named);
}

/* What has no name is not asked for each time. */
static void no_name(void **state)
{
	struct named_code code = code_of(HANGS, 1);
	struct runtime_functions *named = runtime_functions_new();
	const __u64 begin_ns = clock_now_ns();
	bool has_outer;

	(void)state;
	assert_non_null(named);
	for (int i = 0; i < 100; i++)
		assert_int_equal(runtime_functions_get(named, &code, &has_outer), 1);
	assert_string_equal(runtime_functions_texts(named)->text[1], "[unknown]\n");
	assert_true(clock_now_ns() - begin_ns < NS_PER_SECOND);
	assert_in_range(runtime_functions_unread(named), 1, 2);
	runtime_functions_free(named);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(a_name, make_readers, free_readers),
	    cmocka_unit_test_setup_teardown(no_answer, make_readers, free_readers),
	    cmocka_unit_test_setup_teardown(an_end, make_readers, free_readers),
	    cmocka_unit_test_setup_teardown(a_pause_ends, make_readers, free_readers),
	    cmocka_unit_test_setup_teardown(lies_are_seen, make_readers, free_readers),
	    cmocka_unit_test_setup_teardown(many_processes, make_readers, free_readers),
	    cmocka_unit_test(depth_ends),
	    cmocka_unit_test(no_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
