// SPDX-License-Identifier: Apache-2.0
/* Which functions of a runtime stand in place of which calls of its interpreter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "profile/take/whole_stack.h"

/* Native frames of the test, by number. */
enum { WORK = 1, CALL, LOOP, NAMELESS, MAIN, SWITCH };
static const char *const texts[] = {
    [WORK] = "work", [CALL] = "interpret_all", [LOOP] = "loop.isra.0", [NAMELESS] = "lib.so+0x12",
    [MAIN] = "main", [SWITCH] = "exchange",
};

/* Functions, and outermost ones of a call. */
#define F(n) (FRAME_NAMED | (n))
#define E(n) (F(n) | FRAME_ENTRY)

static struct runtime_names runtime;
static const char *const cut = "[cut]";

const struct runtime_names *runtime_names_of(__u8 kind)
{
	return kind ? &runtime : NULL;
}

const char *frame_names_get(const struct frame_names *names, __u64 frame)
{
	(void)names;
	return frame & FRAME_KERNEL ? "kernel_work" : texts[frame];
}

const char *frame_names_file(const struct frame_names *names, __u64 frame)
{
	(void)names;
	if (frame == SWITCH)
		return "stacks.so";
	return frame & FRAME_KERNEL ? "kernel" : "lib.so";
}

const char *stack_missing(const struct stack *stack)
{
	return stack->stop == PROFILE_STOP_END ? NULL : cut;
}

/* What becomes of native frames and of functions, each list ending with 0, is what is wanted. */
static void assert_merged(const __u64 *native, const __u64 *named, const __u64 *wanted, __u8 stop,
			  const char *missing)
{
	struct stack *stack = calloc(1, sizeof(*stack) + 64 * sizeof(__u64));
	__u64 frames[WHOLE_STACK_MAX];
	size_t count, i;

	assert_non_null(stack);
	stack->stop = stop;
	stack->named_kind = 1;
	for (; native[stack->user_count]; stack->user_count++)
		stack->frame[stack->user_count] = native[stack->user_count];
	for (; named[stack->named_count]; stack->named_count++)
		stack->frame[stack->user_count + stack->named_count] = named[stack->named_count];
	count = whole_stack_frames(NULL, stack, frames);
	for (i = 0; wanted[i]; i++)
		assert_int_equal(frames[i], wanted[i]);
	assert_int_equal(count, i);
	if (missing)
		assert_string_equal(whole_stack_missing(NULL, stack), missing);
	else
		assert_null(whole_stack_missing(NULL, stack));
	free(stack);
}

#define LIST(...) ((const __u64[]){__VA_ARGS__ __VA_OPT__(, ) 0})
#define MERGED(native, named, ...)                                                                 \
	assert_merged(native, named, LIST(__VA_ARGS__), PROFILE_STOP_END, NULL)
#define SWITCHED(native, named, ...)                                                               \
	assert_merged(native, named, LIST(__VA_ARGS__), PROFILE_STOP_END, STACK_SWITCHED)

static int with_loop(void **state)
{
	(void)state;
	runtime =
	    (struct runtime_names){.interpreter = "interpret", .loop = "loop", .may_differ = true};
	return 0;
}

static int exact(void **state)
{
	(void)state;
	runtime = (struct runtime_names){.interpreter = "interpret"};
	return 0;
}

static void each_call_is_its_functions(void **state)
{
	(void)state;
	MERGED(LIST(WORK, CALL, WORK, CALL, MAIN), LIST(F(1), E(2), E(3)), WORK, F(1), F(2), WORK,
	       F(3), MAIN);
	/* A loop is nobody's here. */
	MERGED(LIST(LOOP, CALL, MAIN), LIST(E(1)), LOOP, F(1), MAIN);
}

static void what_does_not_fit_stays(void **state)
{
	(void)state;
	MERGED(LIST(CALL, CALL, MAIN), LIST(E(1)), CALL, CALL, MAIN);
	MERGED(LIST(CALL, MAIN), LIST(E(1), E(2)), CALL, MAIN);
	MERGED(LIST(CALL, MAIN), LIST(E(1), F(2)), CALL, MAIN);
	MERGED(LIST(CALL, MAIN), LIST(), CALL, MAIN);
	assert_merged(LIST(CALL, MAIN), LIST(E(1)), LIST(CALL, MAIN), PROFILE_STOP_DEEP, cut);
}

static void the_loop_goes_with_its_call(void **state)
{
	(void)state;
	MERGED(LIST(WORK, LOOP, CALL, WORK, NAMELESS, CALL, MAIN), LIST(E(1), F(2), E(3)), WORK,
	       F(1), WORK, F(2), F(3), MAIN);
	/* Only the one that the call has called. */
	MERGED(LIST(NAMELESS, NAMELESS, CALL, NAMELESS), LIST(E(1)), NAMELESS, F(1), NAMELESS);
	MERGED(LIST(WORK, CALL, MAIN), LIST(E(1)), WORK, F(1), MAIN);
}

static void the_innermost_call_may_have_no_function(void **state)
{
	(void)state;
	MERGED(LIST(LOOP, CALL, WORK, LOOP, CALL, MAIN), LIST(F(1), E(2)), LOOP, CALL, WORK, F(1),
	       F(2), MAIN);
	/* Two are more than that. */
	MERGED(LIST(CALL, CALL, CALL), LIST(E(1)), CALL, CALL, CALL);
}

static void the_innermost_function_may_have_no_call(void **state)
{
	(void)state;
	MERGED(LIST(WORK, LOOP, CALL, MAIN), LIST(E(1), F(2), E(3)), WORK, F(2), F(3), MAIN);
	MERGED(LIST(MAIN), LIST(E(1)), MAIN);
	MERGED(LIST(CALL, MAIN), LIST(E(1), E(2), E(3)), CALL, MAIN);
}

static int with_switcher(void **state)
{
	(void)state;
	runtime = (struct runtime_names){.interpreter = "interpret", .switcher = "stacks."};
	return 0;
}

static void a_switch_that_does_not_fit_is_cut(void **state)
{
	(void)state;
	SWITCHED(LIST(WORK, SWITCH, MAIN), LIST(E(1)), WORK, SWITCH);
	SWITCHED(LIST(SWITCH, SWITCH, WORK, CALL, MAIN), LIST(E(1), E(2)), SWITCH);
	SWITCHED(LIST(WORK, SWITCH, WORK, SWITCH), LIST(), WORK, SWITCH);
	MERGED(LIST(WORK, SWITCH, CALL, MAIN), LIST(E(1)), WORK, SWITCH, F(1), MAIN);
}

static void who_has_been_switched_to_is_whole(void **state)
{
	(void)state;
	MERGED(LIST(WORK, CALL, SWITCH, CALL, MAIN), LIST(E(1)), WORK, CALL, SWITCH, CALL, MAIN);
	MERGED(LIST(WORK, SWITCH, SWITCH), LIST(), WORK, SWITCH, SWITCH);
	MERGED(LIST(WORK, CALL, SWITCH, SWITCH), LIST(E(1)), WORK, F(1), SWITCH, SWITCH);
	assert_merged(LIST(CALL, SWITCH), LIST(E(1)), LIST(CALL, SWITCH), PROFILE_STOP_DEEP, cut);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(each_call_is_its_functions, exact),
	    cmocka_unit_test_setup(what_does_not_fit_stays, exact),
	    cmocka_unit_test_setup(the_loop_goes_with_its_call, with_loop),
	    cmocka_unit_test_setup(the_innermost_call_may_have_no_function, with_loop),
	    cmocka_unit_test_setup(the_innermost_function_may_have_no_call, with_loop),
	    cmocka_unit_test_setup(a_switch_that_does_not_fit_is_cut, with_switcher),
	    cmocka_unit_test_setup(who_has_been_switched_to_is_whole, with_switcher),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
