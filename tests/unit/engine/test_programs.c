// SPDX-License-Identifier: Apache-2.0
/*
 * The engine against simulated programs. A call must never be given to another request; how many
 * must be given to theirs is said per program. (`./run accuracy` asks the same of real ones.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "expectations.h"

/* Long runs, and what happens before anything is learnt. */
#define REQUESTS      1500
#define SEEDS         8
#define COLD_REQUESTS 100
#define COLD_SEEDS    60

static const uint32_t in_flight[LEVELS] = {1, 2, 3, 5, 8, 64};

static void add(struct score *sum, const struct score *one)
{
	sum->right += one->right;
	sum->unknown += one->unknown;
	sum->wrong += one->wrong;
	sum->own += one->own;
	sum->own_wrong += one->own_wrong;
}

static struct score run_all(const struct expectation *e, uint32_t level, uint32_t requests,
			    uint32_t seeds)
{
	struct program program = e->program;
	struct score sum = {}, one;

	program.in_flight = in_flight[level];
	program.requests = requests;
	for (program.seed = 1; program.seed <= seeds; program.seed++) {
		one = program_run(&program);
		add(&sum, &one);
	}
	return sum;
}

/* How many processes of each kind; fewer where they take long. */
static uint32_t seeds_wanted(void)
{
	const char *wanted = getenv("CTXPROP_SEEDS");
	unsigned long seeds = wanted ? strtoul(wanted, NULL, 10) : SEEDS;

	return seeds >= 1 && seeds <= SEEDS ? (uint32_t)seeds : SEEDS;
}

/* Nothing may be wrong, and of all processes enough is right. */
static bool check_level(const struct expectation *e, uint32_t level)
{
	uint32_t seeds = seeds_wanted();
	struct score s = run_all(e, level, REQUESTS, seeds);
	struct score cold = run_all(e, level, COLD_REQUESTS, COLD_SEEDS * seeds / SEEDS);
	uint32_t calls = s.right + s.unknown + s.wrong;

	print_message("%-40s %3u in flight: right %5.1f %%, unknown %5.1f %%, wrong %u of %u; own "
		      "%u, wrong %u; new processes: wrong %u\n",
		      e->name, in_flight[level], 100.0 * s.right / calls, 100.0 * s.unknown / calls,
		      s.wrong, calls, s.own, s.own_wrong, cold.wrong + cold.own_wrong);
	return !(s.wrong + s.own_wrong + cold.wrong + cold.own_wrong) &&
	       (seeds < SEEDS || 100ULL * s.right >= (uint64_t)e->right[level] * calls);
}

static void check(void **state)
{
	const struct expectation *e = *state;
	bool ok = true;

	for (uint32_t level = 0; level < LEVELS; level++)
		ok &= check_level(e, level);
	assert_true(ok);
}

int main(void)
{
	struct CMUnitTest tests[EXPECTATIONS] = {};

	for (size_t i = 0; i < EXPECTATIONS; i++)
		tests[i] = (struct CMUnitTest){.name = expectations[i].name,
					       .test_func = check,
					       .initial_state = (void *)&expectations[i]};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
