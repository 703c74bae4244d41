// SPDX-License-Identifier: Apache-2.0
/* What processes run, found out in sandboxes: of honest programs, and of such as are made to hurt.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "runtime/inspector.h"

#define WAIT_MS 20000

static const struct classified *known_none(const struct stat *file, void *data)
{
	(void)file;
	(void)data;
	return NULL;
}

/* Inspect a process, and wait for what is found. */
static struct inspection inspect(struct inspector *inspector, pid_t pid)
{
	struct inspection inspection;

	assert_true(inspector_has_room(inspector));
	assert_int_equal(inspector_start(inspector, (__u32)pid), 0);
	while (!inspector_take(inspector, &inspection)) {
		struct pollfd news = {.fd = inspector_fd(inspector), .events = POLLIN};

		assert_true(poll(&news, 1, WAIT_MS) >= 0);
	}
	return inspection;
}

static void an_honest_program(void **state)
{
	struct inspector inspector;
	struct inspection inspection;

	(void)state;
	assert_int_equal(inspector_open(known_none, NULL, &inspector), 0);
	inspection = inspect(&inspector, getpid());
	assert_int_equal(inspection.err, 0);
	assert_int_equal(inspection.found.why, WHY_NONE);
	assert_int_equal(inspection.found.runtime.kind, RUNTIME_THREADS);
	subject_close(&inspection.subject);
	inspector_close(&inspector);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(an_honest_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
