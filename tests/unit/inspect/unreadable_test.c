// SPDX-License-Identifier: Apache-2.0
/* Who is left alone, and for how long, after what was waited for has not come. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <unistd.h>

#include "base/clock.h"
#include "inspect/unreadable.h"

#define WAITED_NS (NS_PER_SECOND / 2)
#define BEGIN_NS  (1000 * NS_PER_SECOND)

static const struct unreadable_process one = {.tgid = 10, .uid = 1000, .started = 5};

static void a_process_is_left_alone_for_a_while(void **state)
{
	const struct unreadable_process reborn = {.tgid = 10, .uid = 1000, .started = 6};
	const struct unreadable_process other = {.tgid = 11, .uid = 1000, .started = 5};
	const __u64 end_ns = BEGIN_NS + UNREADABLE_PAUSE_S * NS_PER_SECOND;
	struct unreadable unreadable = {};

	(void)state;
	assert_false(unreadable_is(&unreadable, &one, BEGIN_NS));
	unreadable_mark(&unreadable, &one, WAITED_NS, BEGIN_NS);
	assert_true(unreadable_is(&unreadable, &one, BEGIN_NS));
	assert_true(unreadable_is(&unreadable, &one, end_ns - 1));
	assert_false(unreadable_is(&unreadable, &one, end_ns));
	assert_false(unreadable_is(&unreadable, &reborn, BEGIN_NS));
	assert_false(unreadable_is(&unreadable, &other, BEGIN_NS));
}

static void longer_each_time_up_to_a_limit(void **state)
{
	struct unreadable unreadable = {};
	__u64 now_ns = BEGIN_NS, pause_s = UNREADABLE_PAUSE_S;

	(void)state;
	for (int i = 0; i < UNREADABLE_DOUBLED + 3; i++) {
		unreadable_mark(&unreadable, &one, WAITED_NS, now_ns);
		now_ns += pause_s * NS_PER_SECOND;
		assert_true(unreadable_is(&unreadable, &one, now_ns - 1));
		assert_false(unreadable_is(&unreadable, &one, now_ns));
		pause_s = i < UNREADABLE_DOUBLED ? 2 * pause_s : pause_s;
	}
}

/* Marks `count` processes of a user, one a minute, so that the time lost does not matter. */
static struct unreadable with_processes_of(__u32 uid, __u32 count)
{
	struct unreadable unreadable = {};

	for (__u32 i = 0; i < count; i++) {
		const struct unreadable_process process = {
		    .tgid = 20 + i, .uid = uid, .started = 1};

		unreadable_mark(&unreadable, &process, 0, BEGIN_NS);
	}
	return unreadable;
}

static bool is_new_one(const struct unreadable *unreadable, __u32 uid)
{
	const struct unreadable_process process = {.tgid = 9, .uid = uid, .started = 1};

	return unreadable_is(unreadable, &process, BEGIN_NS + 1);
}

static void a_user_with_several_is_left_alone_but_root(void **state)
{
	struct unreadable few = with_processes_of(7, UNREADABLE_OF_USER - 1);
	struct unreadable several = with_processes_of(7, UNREADABLE_OF_USER);
	struct unreadable roots = with_processes_of(0, UNREADABLE_MAX);

	(void)state;
	assert_false(is_new_one(&few, 7));
	assert_true(is_new_one(&several, 7));
	assert_false(is_new_one(&several, 8));
	assert_false(is_new_one(&roots, 0));
}

static void the_time_of_all_has_a_limit(void **state)
{
	const struct unreadable_process other = {.tgid = 99, .uid = 5, .started = 1};
	const __u64 lost_ns = (UNREADABLE_CREDIT_MS + 1000) * (NS_PER_SECOND / 1000);
	struct unreadable unreadable = {};

	(void)state;
	unreadable_mark(&unreadable, &one, lost_ns, BEGIN_NS);
	assert_true(unreadable_is(&unreadable, &other, BEGIN_NS));
	assert_true(unreadable_is(&unreadable, &other, BEGIN_NS + 19 * NS_PER_SECOND));
	assert_false(unreadable_is(&unreadable, &other, BEGIN_NS + 21 * NS_PER_SECOND));
}

static void a_process_is_known_by_what_proc_tells(void **state)
{
	struct unreadable_process here, again;

	(void)state;
	assert_int_equal(unreadable_identify((__u32)getpid(), &here), 0);
	assert_int_equal(unreadable_identify((__u32)getpid(), &again), 0);
	assert_int_equal(here.tgid, getpid());
	assert_int_equal(here.uid, geteuid());
	assert_true(here.started > 0);
	assert_int_equal(here.started, again.started);
	assert_true(unreadable_identify(0x7fffffff, &again) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_process_is_left_alone_for_a_while),
	    cmocka_unit_test(longer_each_time_up_to_a_limit),
	    cmocka_unit_test(a_user_with_several_is_left_alone_but_root),
	    cmocka_unit_test(the_time_of_all_has_a_limit),
	    cmocka_unit_test(a_process_is_known_by_what_proc_tells),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
