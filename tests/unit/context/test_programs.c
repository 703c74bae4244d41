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
#include <cmocka.h>

#include "program.h"

/* Long runs, and what happens before anything is learnt. */
#define REQUESTS      1500
#define SEEDS         8
#define COLD_REQUESTS 100
#define COLD_SEEDS    60

static const uint32_t in_flight[] = {1, 2, 3, 5, 8, 64};
#define LEVELS (sizeof(in_flight) / sizeof(in_flight[0]))

/* A program, and the least part of its calls (percent) that is right, by requests in flight. */
struct expectation {
	const char *name;
	struct program program;
	uint32_t right[LEVELS];
};

static const struct expectation expectations[] = {
    {"threads, a connection per call",
     {.kind = PROGRAM_THREADS, .calls_max = 3},
     {100, 100, 100, 100, 100, 100}},
    {"threads, kept connections, pauses",
     {.kind = PROGRAM_THREADS, .calls_max = 3, .keep = true, .pause = true},
     {100, 100, 100, 100, 100, 100}},
    {"threads that wait for four connections",
     {.kind = PROGRAM_THREADS, .calls_max = 3, .keep = true, .connections = 4},
     {100, 100, 100, 100, 100, 100}},
    {"threads, calls of its own",
     {.kind = PROGRAM_THREADS, .calls_max = 3, .keep = true, .background = true},
     {100, 100, 100, 100, 100, 100}},
    {"loop, one call, a connection per call",
     {.kind = PROGRAM_LOOP, .calls_max = 1},
     {100, 100, 100, 100, 100, 100}},
    {"loop, a connection per call",
     {.kind = PROGRAM_LOOP, .calls_max = 3},
     {100, 98, 99, 99, 99, 98}},
    {"loop, kept connections",
     {.kind = PROGRAM_LOOP, .calls_max = 3, .keep = true},
     {100, 98, 99, 99, 99, 98}},
    {"loop, four connections",
     {.kind = PROGRAM_LOOP, .calls_max = 3, .keep = true, .connections = 4},
     {100, 0, 0, 0, 0, 0}},
    {"loop, four connections, parallel calls",
     {.kind = PROGRAM_LOOP, .calls_max = 3, .parallel = true, .keep = true, .connections = 4},
     {100, 0, 0, 0, 0, 0}},
    {"loop, four connections, parallel calls, calm at first",
     {.kind = PROGRAM_LOOP,
      .calls_max = 3,
      .parallel = true,
      .keep = true,
      .connections = 4,
      .calm = 10},
     {100, 0, 0, 0, 0, 0}},
    {"loop, two connections, parallel calls, but not at first",
     {.kind = PROGRAM_LOOP,
      .calls_max = 3,
      .parallel = true,
      .keep = true,
      .connections = 2,
      .calm = 40,
      .calm_serial = true},
     {100, 0, 0, 0, 0, 0}},
    {"loop, eight connections, parallel calls, but not at first",
     {.kind = PROGRAM_LOOP,
      .calls_max = 3,
      .parallel = true,
      .keep = true,
      .connections = 8,
      .calm = 40,
      .calm_serial = true},
     {100, 0, 0, 0, 0, 0}},
    {"loop, four connections at a time, parallel calls",
     {.kind = PROGRAM_LOOP, .calls_max = 3, .parallel = true, .connections = 4},
     {100, 0, 0, 0, 0, 0}},
    {"loop, one connection, parallel calls",
     {.kind = PROGRAM_LOOP, .calls_max = 3, .parallel = true, .keep = true, .connections = 1},
     {100, 0, 0, 0, 0, 0}},
    {"loop, twelve connections, parallel calls",
     {.kind = PROGRAM_LOOP, .calls_max = 3, .parallel = true, .keep = true, .connections = 12},
     {100, 99, 99, 30, 30, 0}},
    {"loop, twelve connections at a time, parallel calls",
     {.kind = PROGRAM_LOOP, .calls_max = 3, .parallel = true, .connections = 12},
     {100, 99, 99, 30, 30, 0}},
    {"loop, four connections, parallel calls, answers in pieces",
     {.kind = PROGRAM_LOOP,
      .calls_max = 3,
      .parallel = true,
      .pieces = true,
      .keep = true,
      .connections = 4},
     {100, 10, 10, 0, 0, 0}},
    {"loop, four connections at a time, parallel calls, answers in pieces",
     {.kind = PROGRAM_LOOP, .calls_max = 3, .parallel = true, .pieces = true, .connections = 4},
     {100, 10, 10, 0, 0, 0}},
    {"loop, kept connections, parallel calls",
     {.kind = PROGRAM_LOOP, .calls_max = 3, .parallel = true, .keep = true},
     {100, 99, 99, 99, 98, 98}},
    {"loop, kept connections, chains side by side",
     {.kind = PROGRAM_LOOP, .calls_max = 3, .chains = true, .keep = true},
     {100, 80, 90, 90, 90, 90}},
    {"loop that reads all first, kept connections",
     {.kind = PROGRAM_LOOP, .calls_max = 3, .keep = true, .tasks = true},
     {100, 75, 55, 20, 5, 0}},
    {"loop that reads all first, parallel calls in any order, kept connections",
     {.kind = PROGRAM_LOOP,
      .calls_max = 3,
      .parallel = true,
      .keep = true,
      .tasks = true,
      .shuffled = true},
     {100, 80, 60, 20, 5, 0}},
    {"loop that reads all first, chains in any order, a connection per call",
     {.kind = PROGRAM_LOOP,
      .calls_max = 3,
      .parallel = true,
      .chains = true,
      .tasks = true,
      .shuffled = true},
     {100, 5, 5, 0, 0, 0}},
    {"loop that reads all first and seldom sleeps, chains in any order, kept connections",
     {.kind = PROGRAM_LOOP,
      .calls_max = 3,
      .parallel = true,
      .chains = true,
      .keep = true,
      .tasks = true,
      .shuffled = true,
      .busy = true},
     {100, 5, 5, 0, 0, 0}},
    {"loop that reads all first, three calls at a time, parallel calls in any order",
     {.kind = PROGRAM_LOOP,
      .calls_max = 3,
      .parallel = true,
      .keep = true,
      .tasks = true,
      .shuffled = true,
      .at_once = 3,
      .turns_last = true},
     {100, 50, 20, 0, 0, 0}},
    {"loop that reads all first, three calls at a time, chains in any order, a connection per call",
     {.kind = PROGRAM_LOOP,
      .calls_max = 3,
      .parallel = true,
      .chains = true,
      .tasks = true,
      .shuffled = true,
      .at_once = 3,
      .turns_last = true},
     {100, 3, 1, 0, 0, 0}},
    {"loop that reads most first, three calls at a time, parallel calls in any order",
     {.kind = PROGRAM_LOOP,
      .calls_max = 3,
      .parallel = true,
      .keep = true,
      .tasks = true,
      .shuffled = true,
      .mixed = true,
      .at_once = 3,
      .turns_last = true},
     {100, 50, 20, 0, 0, 0}},
    {"loop, three calls at a time, chains, who waited is next when all is read",
     {.kind = PROGRAM_LOOP,
      .calls_max = 3,
      .chains = true,
      .keep = true,
      .at_once = 3,
      .turns_last = true},
     {100, 30, 5, 0, 0, 0}},
    {"loop that reads all first, four connections, parallel calls in any order",
     {.kind = PROGRAM_LOOP,
      .calls_max = 3,
      .parallel = true,
      .keep = true,
      .connections = 4,
      .tasks = true,
      .shuffled = true},
     {100, 60, 10, 0, 0, 0}},
    {"loop, timers before each call",
     {.kind = PROGRAM_LOOP, .calls_max = 3, .keep = true, .pause = true},
     {0, 0, 0, 0, 0, 0}},
    {"loop, calls of its own",
     {.kind = PROGRAM_LOOP, .calls_max = 3, .keep = true, .background = true},
     {98, 98, 98, 98, 98, 97}},
    {"loop, every other call is one for several requests, who asked last goes on first",
     {.kind = PROGRAM_LOOP, .calls_max = 3, .keep = true, .shares = true},
     {100, 50, 35, 20, 8, 0}},
    {"loop, every other call is one for several requests",
     {.kind = PROGRAM_LOOP, .calls_max = 3, .keep = true, .shares = true, .in_order = true},
     {100, 75, 55, 25, 8, 0}},
    {"loop, every other call is one for several requests, parallel calls",
     {.kind = PROGRAM_LOOP,
      .calls_max = 3,
      .parallel = true,
      .keep = true,
      .shares = true,
      .in_order = true},
     {100, 85, 70, 40, 18, 0}},
    {"loop, names, kept connections, parallel calls",
     {.kind = PROGRAM_LOOP, .calls_max = 3, .parallel = true, .keep = true, .names = true},
     {100, 99, 99, 99, 99, 99}},
    {"loop, names, a connection per call, chains side by side",
     {.kind = PROGRAM_LOOP, .calls_max = 3, .chains = true, .names = true},
     {100, 90, 96, 97, 97, 96}},
    {"loop, names, eight connections, parallel calls",
     {.kind = PROGRAM_LOOP,
      .calls_max = 3,
      .parallel = true,
      .keep = true,
      .connections = 8,
      .names = true},
     {100, 99, 99, 60, 0, 0}},
    {"loop, names, four connections at a time, chains side by side",
     {.kind = PROGRAM_LOOP, .calls_max = 3, .chains = true, .connections = 4, .names = true},
     {100, 85, 0, 0, 0, 0}},
    {"loop, names, four connections at a time that are closed later, parallel calls",
     {.kind = PROGRAM_LOOP,
      .calls_max = 3,
      .parallel = true,
      .connections = 4,
      .names = true,
      .closes_later = true},
     {100, 91, 40, 2, 0, 0}},
    {"loop, names, eighty connections at a time that are closed later, parallel calls",
     {.kind = PROGRAM_LOOP,
      .calls_max = 3,
      .parallel = true,
      .connections = 80,
      .names = true,
      .closes_later = true},
     {100, 99, 99, 99, 99, 40}},
    {"loop, names, eighty connections at a time that are closed later",
     {.kind = PROGRAM_LOOP,
      .calls_max = 3,
      .chains = true,
      .connections = 80,
      .names = true,
      .closes_later = true},
     {100, 90, 95, 96, 96, 0}},
    {"loop, names, eight calls at a time, parallel calls",
     {.kind = PROGRAM_LOOP, .calls_max = 3, .parallel = true, .at_once = 8, .names = true},
     {100, 99, 99, 60, 0, 0}},
    {"loop, four connections, chains side by side, answers that are kept back",
     {.kind = PROGRAM_LOOP,
      .calls_max = 3,
      .chains = true,
      .keep = true,
      .connections = 4,
      .keeps_back = true},
     {100, 70, 0, 0, 0, 0}},
    {"loop, eight connections, parallel calls, answers that are kept back",
     {.kind = PROGRAM_LOOP,
      .calls_max = 3,
      .parallel = true,
      .keep = true,
      .connections = 8,
      .keeps_back = true},
     {100, 90, 90, 50, 0, 0}},
    {"loop that asks on one connection before each call",
     {.kind = PROGRAM_LOOP, .calls_max = 3, .keep = true, .asks = 1},
     {100, 1, 1, 0, 0, 0}},
    {"loop that asks on one connection before every other call",
     {.kind = PROGRAM_LOOP, .calls_max = 3, .keep = true, .asks = 2},
     {100, 1, 1, 0, 0, 0}},
    {"loop that asks on one connection before every other call, parallel calls",
     {.kind = PROGRAM_LOOP,
      .calls_max = 3,
      .parallel = true,
      .keep = true,
      .asks = 2,
      .told = true},
     {0, 0, 0, 0, 0, 0}},
    {"loop that asks on one connection, chains side by side",
     {.kind = PROGRAM_LOOP, .calls_max = 3, .chains = true, .keep = true, .asks = 2, .told = true},
     {0, 0, 0, 0, 0, 0}},
    {"loop that asks on one connection, and tells it things",
     {.kind = PROGRAM_LOOP, .calls_max = 3, .keep = true, .asks = 2, .told = true, .tells = true},
     {0, 0, 0, 0, 0, 0}},
    {"loop that asks on one connection, and tells it things, parallel calls",
     {.kind = PROGRAM_LOOP,
      .calls_max = 3,
      .parallel = true,
      .keep = true,
      .asks = 2,
      .told = true,
      .tells = true},
     {0, 0, 0, 0, 0, 0}},
    {"loop that asks on one connection, calls of its own",
     {.kind = PROGRAM_LOOP,
      .calls_max = 3,
      .keep = true,
      .asks = 2,
      .told = true,
      .background = true},
     {0, 0, 0, 0, 0, 0}},
    {"loop that asks on one connection, a connection per call",
     {.kind = PROGRAM_LOOP, .calls_max = 3, .asks = 2, .told = true},
     {0, 0, 0, 0, 0, 0}},
    {"loop that asks on one connection, four connections",
     {.kind = PROGRAM_LOOP,
      .calls_max = 3,
      .keep = true,
      .asks = 2,
      .told = true,
      .connections = 4},
     {0, 0, 0, 0, 0, 0}},
    {"pool of eight", {.kind = PROGRAM_POOL, .workers = 8, .calls_max = 3}, {100, 0, 0, 0, 0, 0}},
    {"pool of eight, kept connections",
     {.kind = PROGRAM_POOL, .workers = 8, .calls_max = 3, .keep = true},
     {100, 0, 0, 0, 0, 0}},
};

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

static void check(void **state)
{
	const struct expectation *e = *state;

	for (uint32_t level = 0; level < LEVELS; level++) {
		struct score s = run_all(e, level, REQUESTS, SEEDS);
		struct score cold = run_all(e, level, COLD_REQUESTS, COLD_SEEDS);
		uint32_t calls = s.right + s.unknown + s.wrong;

		print_message(
		    "%-40s %3u in flight: right %5.1f %%, unknown %5.1f %%, wrong %u; own %u, "
		    "wrong %u\n",
		    e->name, in_flight[level], 100.0 * s.right / calls, 100.0 * s.unknown / calls,
		    s.wrong, s.own, s.own_wrong);
		assert_int_equal(s.wrong + s.own_wrong, 0);
		assert_int_equal(cold.wrong + cold.own_wrong, 0);
		assert_true(100ULL * s.right >= (uint64_t)e->right[level] * calls);
	}
}

int main(void)
{
	struct CMUnitTest tests[sizeof(expectations) / sizeof(expectations[0])] = {};
	size_t count = sizeof(tests) / sizeof(tests[0]);

	for (size_t i = 0; i < count; i++)
		tests[i] = (struct CMUnitTest){.name = expectations[i].name,
					       .test_func = check,
					       .initial_state = (void *)&expectations[i]};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
