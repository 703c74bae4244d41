// SPDX-License-Identifier: Apache-2.0
/* Open requests by x-request-id: what is told while others come and go on other CPUs. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/ids.h"

enum { TGID = 100, THREADS = 4, ROUNDS = 200000, TAGS = 3 };

static struct id_set set;

static __u64 tag_of(__u64 number)
{
	return id_tag(id_hash(TGID, number));
}

static int begin(void **state)
{
	(void)state;
	set = (struct id_set){};
	return 0;
}

static void assert_empty(void)
{
	for (int i = 0; i < ID_SLOTS; i++) {
		assert_int_equal(set.slot[i].word, 0);
		assert_int_equal(set.slot[i].all, 0);
	}
	assert_int_equal(set.no_slot, 0);
}

static void one_of_three(void **state)
{
	const __u64 tag = tag_of(1);
	__u32 first = id_set_add(&set, tag, 7), second = id_set_add(&set, tag, 8), third;

	(void)state;
	assert_int_equal(id_set_only(&set, tag), 0);
	id_set_remove(&set, tag, first, 7);
	assert_int_equal(id_set_only(&set, tag), 8);
	third = id_set_add(&set, tag, 9);
	assert_int_equal(id_set_only(&set, tag), 0);
	id_set_remove(&set, tag, second, 8);
	assert_int_equal(id_set_only(&set, tag), 9);
	assert_false(id_set_has(&set, tag_of(2)));
	id_set_remove(&set, tag, third, 9);
	assert_false(id_set_has(&set, tag));
	assert_empty();
}

/* More numbers than a set has slots: nothing is told until there is room again. */
static void no_room(void **state)
{
	__u32 where[ID_SLOTS + 1];

	(void)state;
	for (__u64 i = 0; i <= ID_SLOTS; i++)
		where[i] = id_set_add(&set, tag_of(i), 10 + i);
	assert_int_equal(where[ID_SLOTS], ID_NO_SLOT);
	for (__u64 i = 0; i <= ID_SLOTS; i++)
		assert_int_equal(id_set_only(&set, tag_of(i)), 0);
	id_set_remove(&set, tag_of(ID_SLOTS), ID_NO_SLOT, 10 + ID_SLOTS);
	for (__u64 i = 0; i < ID_SLOTS; i++) {
		assert_int_equal(id_set_only(&set, tag_of(i)), 10 + i);
		id_set_remove(&set, tag_of(i), where[i], 10 + i);
	}
	assert_empty();
}

/* Two CPUs that list the first requests of a number at once may take a slot each. */
static void two_slots_of_a_number(void **state)
{
	const __u64 tag = tag_of(1);

	(void)state;
	assert_true(id_slot_take(&set.slot[2], 0, tag, 7));
	assert_true(id_slot_take(&set.slot[0], 0, tag, 8));
	assert_int_equal(id_set_only(&set, tag), 0);
	id_set_remove(&set, tag, 2, 7);
	assert_int_equal(id_set_only(&set, tag), 8);
	id_set_remove(&set, tag, 0, 8);
	assert_empty();
}

/* A CPU that finds the word of a slot changed does nothing to it. */
static void another_one_was_faster(void **state)
{
	const __u64 tag = tag_of(1), other = tag_of(2);

	(void)state;
	id_set_add(&set, other, 7);
	assert_false(id_slot_take(&set.slot[0], 0, tag, 8));
	id_set_remove(&set, tag, 0, 8);
	assert_int_equal(id_set_only(&set, other), 7);
	assert_int_equal(set.slot[0].all, 7);
}

struct visitor {
	pthread_t thread;
	int number;
	int wrong;
};

/* The number of a thread's open request names this one, or nothing. */
static void *come_and_go(void *data)
{
	struct visitor *visitor = data;

	for (__u64 i = 0; i < ROUNDS; i++) {
		__u64 tag = tag_of((i + visitor->number) % TAGS), only;
		__u64 id = 1ULL << (56 + visitor->number) | (i * 0x9e3779b97f4a7c15) >> 8;
		__u32 where = id_set_add(&set, tag, id);

		for (int look = 0; look < 4; look++) {
			only = id_set_only(&set, tag);
			/* A mixture of ids has the bits of several threads. */
			visitor->wrong +=
			    only && only != id && __builtin_popcountll(only >> 56) == 1;
		}
		id_set_remove(&set, tag, where, id);
	}
	return NULL;
}

static void many_at_once(void **state)
{
	struct visitor visitors[THREADS] = {};

	(void)state;
	for (int i = 0; i < THREADS; i++) {
		visitors[i].number = i;
		assert_int_equal(
		    pthread_create(&visitors[i].thread, NULL, come_and_go, &visitors[i]), 0);
	}
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(visitors[i].thread, NULL), 0);
		assert_int_equal(visitors[i].wrong, 0);
	}
	assert_empty();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(one_of_three, begin),
	    cmocka_unit_test_setup(no_room, begin),
	    cmocka_unit_test_setup(two_slots_of_a_number, begin),
	    cmocka_unit_test_setup(another_one_was_faster, begin),
	    cmocka_unit_test_setup(many_at_once, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
