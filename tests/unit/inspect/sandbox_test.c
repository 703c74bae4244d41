// SPDX-License-Identifier: Apache-2.0
/* What work in a sandbox can do, and what ends it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "inspect/sandbox.h"

#define ANSWER "all is well"

static enum sandbox_end end_of(int (*work)(int socket, void *data), void *data)
{
	_cleanup_sandbox_ struct sandbox sandbox = SANDBOX_NONE;

	assert_int_equal(sandbox_start(work, data, &sandbox), 0);
	return sandbox_wait(&sandbox);
}

/* Reads what was opened before, gets memory, and says something. */
static int honest(int socket, void *data)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	char text[4];
	void *memory;

	(void)data;
	if (fd < 0 || sandbox_confine() || pread(fd, text, sizeof(text), 0) != sizeof(text))
		return -1;
	memory = malloc(16 << 20);
	if (!memory || memcmp(text, "\177ELF", sizeof(text)) != 0)
		return -1;
	free(memory);
	return send(socket, ANSWER, sizeof(ANSWER), 0) == sizeof(ANSWER) ? 0 : -1;
}

static void honest_work(void **state)
{
	_cleanup_sandbox_ struct sandbox sandbox = SANDBOX_NONE;
	char text[sizeof(ANSWER)] = "";

	(void)state;
	assert_int_equal(sandbox_start(honest, NULL, &sandbox), 0);
	assert_int_equal(sandbox_wait(&sandbox), SANDBOX_DONE);
	assert_int_equal(recv(sandbox.socket, text, sizeof(text), MSG_DONTWAIT), sizeof(text));
	assert_string_equal(text, ANSWER);
}

static int give_up(int socket, void *data)
{
	(void)socket;
	(void)data;
	return -1;
}

static int crash(int socket, void *data)
{
	(void)socket;
	(void)data;
	return raise(SIGABRT);
}

static int spin(int socket, void *data)
{
	volatile unsigned long turns = 0;

	(void)socket;
	(void)data;
	if (sandbox_confine())
		return 0; /* is found out: that is no end that is expected */
	while (true)
		turns = turns + 1;
	return 0;
}

static void ends(void **state)
{
	__u64 begin = clock_now_ns();

	(void)state;
	assert_int_equal(end_of(give_up, NULL), SANDBOX_GAVE_UP);
	assert_int_equal(end_of(crash, NULL), SANDBOX_CRASHED);
	assert_int_equal(end_of(spin, NULL), SANDBOX_TOO_LONG);
	assert_true(clock_now_ns() - begin < SANDBOX_SECONDS * NS_PER_SECOND);
}

/* It waits for ever. The test does not: it moves the end. */
static int stall(int socket, void *data)
{
	(void)socket;
	(void)data;
	return pause();
}

static void end_by_the_clock(void **state)
{
	_cleanup_sandbox_ struct sandbox sandbox = SANDBOX_NONE;

	(void)state;
	assert_int_equal(sandbox_start(stall, NULL, &sandbox), 0);
	assert_int_equal(sandbox_look(&sandbox), SANDBOX_RUNS);
	sandbox.end_ns = clock_now_ns();
	assert_int_equal(sandbox_look(&sandbox), SANDBOX_RUNS);
	assert_int_equal(sandbox_wait(&sandbox), SANDBOX_KILLED);
}

/* Nobody has to know why: it waits for what does not come. */
static void end_without_progress(void **state)
{
	const __u64 begin_ns = clock_now_ns();

	(void)state;
	assert_int_equal(end_of(stall, NULL), SANDBOX_KILLED);
	assert_true(clock_now_ns() - begin_ns < SANDBOX_SECONDS * NS_PER_SECOND / 2);
}

/* System calls that nobody needs who reads what is open. */
static int call(int socket, void *data)
{
	static const long calls[] = {SYS_openat, SYS_socket,  SYS_ptrace, SYS_bpf,
				     SYS_kill,   SYS_clone,   SYS_execve, SYS_process_vm_readv,
				     SYS_setuid, SYS_unshare, SYS_dup,    SYS_recvmsg};
	const size_t *which = data;

	(void)socket;
	if (sandbox_confine())
		return 0;
	syscall(*which < sizeof(calls) / sizeof(calls[0]) ? calls[*which] : SYS_exit_group, 0, 0, 0,
		0, 0, 0);
	return 0;
}

static int run_code(int socket, void *data)
{
	(void)socket;
	(void)data;
	if (sandbox_confine())
		return 0;
	mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return 0;
}

static void forbidden_calls(void **state)
{
	(void)state;
	for (size_t which = 0; which < 12; which++)
		if (end_of(call, &which) != SANDBOX_FORBIDDEN)
			fail_msg("call %zu of the list is not forbidden", which);
	assert_int_equal(end_of(run_code, NULL), SANDBOX_FORBIDDEN);
}

/* Nothing of ours is there: descriptors, capabilities. */
static int look_around(int socket, void *data)
{
	for (int fd = 0; fd < 64; fd++)
		if (fd != socket && fd != STDERR_FILENO && fcntl(fd, F_GETFD) >= 0)
			return -1;
	(void)data;
	return sandbox_confine();
}

static void nothing_is_inherited(void **state)
{
	int fd = open("/", O_PATH);

	(void)state;
	assert_int_equal(end_of(look_around, NULL), SANDBOX_DONE);
	close(fd);
}

#define EATEN_MB 256

static int eat(int socket, void *data)
{
	(void)socket;
	(void)data;
	for (int i = 0; i < EATEN_MB; i++) {
		char *memory = malloc(1 << 20);

		if (!memory)
			return -1;
		memset(memory, 1, 1 << 20);
	}
	return 0;
}

static void memory_is_limited(void **state)
{
	(void)state;
#ifdef __SANITIZE_ADDRESS__
	skip(); /* its shadow memory alone is more */
#endif
	assert_int_equal(end_of(eat, NULL), SANDBOX_GAVE_UP);
}

static void limits_can_be_others(void **state)
{
	static const struct sandbox_limits more = {1, 2UL * EATEN_MB << 20};
	struct sandbox sandbox;

	(void)state;
	assert_int_equal(sandbox_start_within(&more, eat, NULL, &sandbox), 0);
	assert_int_equal(sandbox_wait(&sandbox), SANDBOX_DONE);
	sandbox_close(&sandbox);
	assert_int_equal(sandbox_start_within(&more, spin, NULL, &sandbox), 0);
	assert_int_equal(sandbox_wait(&sandbox), SANDBOX_TOO_LONG);
	sandbox_close(&sandbox);
}

#define PIECES      1024
#define PIECE_BYTES (64UL << 10)

static size_t take_pieces(void *piece[], size_t most)
{
	size_t count = 0;

	while (count < most && (piece[count] = malloc(PIECE_BYTES)))
		count++;
	return count;
}

/* Memory is given back, from the last piece on, and taken until there is no more. */
static int take_and_give_back(int socket, void *data)
{
	static void *piece[SANDBOX_DATA_MAX / PIECE_BYTES + 1];
	size_t count;

	(void)socket;
	(void)data;
	if (sandbox_confine() || take_pieces(piece, PIECES) < PIECES)
		return -1;
	for (count = PIECES; count > 0; count--)
		free(piece[count - 1]);
	if (SANDBOX_IS_SANITIZED)
		return 0; /* there is no limit on memory */
	return take_pieces(piece, sizeof(piece) / sizeof(piece[0])) <
		       sizeof(piece) / sizeof(piece[0])
		   ? 0
		   : -1;
}

static void *start_in_thread(void *data)
{
	void *volatile memory = malloc(1); /* from now on the thread has an arena */
	enum sandbox_end *end = data;
	struct sandbox sandbox;

	free(memory);
	if (!sandbox_start(take_and_give_back, NULL, &sandbox))
		*end = sandbox_wait(&sandbox);
	sandbox_close(&sandbox);
	return NULL;
}

/* Who has threads starts sandboxes in any of them. */
static void memory_of_a_thread(void **state)
{
	enum sandbox_end end = SANDBOX_RUNS;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, start_in_thread, &end), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(end, SANDBOX_DONE);
}

/* Locks of ours that it may have inherited are free again. */
static void none_is_left(void **state)
{
	(void)state;
	for (int i = 0; i < 50; i++) {
		struct sandbox sandbox;
		pid_t pid;

		assert_int_equal(sandbox_start(spin, NULL, &sandbox), 0);
		pid = sandbox.pid;
		sandbox_close(&sandbox);
		assert_int_equal(kill(pid, 0), -1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(honest_work),          cmocka_unit_test(ends),
	    cmocka_unit_test(end_by_the_clock),     cmocka_unit_test(end_without_progress),
	    cmocka_unit_test(forbidden_calls),      cmocka_unit_test(nothing_is_inherited),
	    cmocka_unit_test(none_is_left),         cmocka_unit_test(memory_is_limited),
	    cmocka_unit_test(limits_can_be_others), cmocka_unit_test(memory_of_a_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
