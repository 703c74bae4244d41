// SPDX-License-Identifier: Apache-2.0
/* The process that answers of the profile, when what it reads brings it to do what it should not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "inspect/sandbox.h"
#include "web/profile_process.h"

#define SOON_NS (8 * NS_PER_SECOND)

/* What it does; this is asked for as the beginning of the time. */
enum { HONEST, OPENS, CONNECTS, CRASHES, SPINS, WRONG_STATUS, WRONG_SIZE };

static const char said[] = "all is well";
static int opened_before = -1;
static void *volatile nowhere;

/* Instead of web/profile_answer.c. */
void profile_answer_open(const struct profile_question *question, struct windows_opened *ret)
{
	(void)question;
	signal(SIGSEGV, SIG_DFL); /* cmocka's handler would do what is forbidden */
	opened_before = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	*ret = (struct windows_opened){.err = opened_before < 0 ? -errno : 0};
}

/* Reads what was opened before, and takes memory. */
static void be_honest(struct profile_answer *ret)
{
	char *memory = malloc(16 << 20), text[4];

	if (!memory || read(opened_before, text, sizeof(text)) != sizeof(text) ||
	    memcmp(text, "\177ELF", sizeof(text)) != 0)
		abort();
	memset(memory, 'x', 16 << 20);
	free(memory);
	ret->size = sizeof(said);
	memcpy(ret->text, said, sizeof(said));
}

static void spin(void)
{
	while (!nowhere)
		;
}

void profile_answer(const struct profile_question *question, const struct windows_opened *opened,
		    struct profile_answer *ret)
{
	(void)opened;
	ret->status = 200;
	switch (question->from_s) {
	case HONEST:
		be_honest(ret);
		break;
	case OPENS:
		ret->size = open("/etc/passwd", O_RDONLY | O_CLOEXEC) >= 0;
		break;
	case CONNECTS:
		ret->size = socket(AF_UNIX, SOCK_STREAM, 0) >= 0;
		break;
	case CRASHES:
		memset(nowhere, 0, 1);
		break;
	case SPINS:
		spin();
		break;
	case WRONG_STATUS:
		ret->status = 302;
		break;
	default:
		ret->size = sizeof(ret->text) + 1;
	}
}

static int ask(__s64 what)
{
	const struct profile_question question = {.from_s = what};
	struct profile_answer *answer;
	int err = profile_process_ask(&question, &answer);

	if (!err)
		profile_process_free(answer);
	return err;
}

static void an_answer(void **state)
{
	const struct profile_question question = {.from_s = HONEST};
	const unsigned long before = profile_process_count(PROFILE_ANSWERED);
	struct profile_answer *answer;

	(void)state;
	assert_int_equal(profile_process_ask(&question, &answer), 0);
	assert_int_equal(answer->status, 200);
	assert_int_equal(answer->size, sizeof(said));
	assert_string_equal(answer->text, said);
	profile_process_free(answer);
	assert_int_equal(profile_process_count(PROFILE_ANSWERED), before + 1);
}

/* What the daemon may do, and the process that reads may not. */
static void no_rights(void **state)
{
	const unsigned long before = profile_process_count(PROFILE_FAILED);

	(void)state;
	assert_int_equal(ask(OPENS), -EPERM);
	assert_int_equal(ask(CONNECTS), -EPERM);
	assert_int_equal(profile_process_count(PROFILE_FAILED), before + 2);
	assert_int_equal(ask(HONEST), 0);
}

static void a_crash(void **state)
{
	const unsigned long before = profile_process_count(PROFILE_FAILED);

	(void)state;
	/* What a sanitizer does to report it is forbidden. */
	assert_int_equal(ask(CRASHES), SANDBOX_IS_SANITIZED ? -EPERM : -EIO);
	assert_int_equal(profile_process_count(PROFILE_FAILED), before + 1);
	assert_int_equal(ask(HONEST), 0);
}

static void too_long(void **state)
{
	const unsigned long before = profile_process_count(PROFILE_TOO_LONG);
	const __u64 begin_ns = clock_now_ns();

	(void)state;
	assert_int_equal(ask(SPINS), -ETIME);
	assert_true(clock_now_ns() - begin_ns < SOON_NS);
	assert_int_equal(profile_process_count(PROFILE_TOO_LONG), before + 1);
}

/* What a process says that was taken over. */
static void lies_are_seen(void **state)
{
	(void)state;
	assert_int_equal(ask(WRONG_STATUS), -EBADMSG);
	assert_int_equal(ask(WRONG_SIZE), -EBADMSG);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(an_answer), cmocka_unit_test(no_rights),     cmocka_unit_test(a_crash),
	    cmocka_unit_test(too_long),  cmocka_unit_test(lies_are_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
