// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "program.h"
#include "simulation.h"
#include "store.h"
#include "engine/engine.h"

#define OWN_WAY   0x100 /* between the paths of calls of its own */
#define OWN_FIRST 5     /* so many steps before the first request, where that is wanted */

struct simulation run;

static const struct worker_key loop_key = {.tgid = TGID, .tid = LOOP_TID};

void sim_schedule(uint64_t delay, enum event_kind kind, uint32_t index)
{
	assert_true(run.events < EVENTS_MAX);
	run.event[run.events++] = (struct event){run.now + delay, kind, index};
}

struct actor sim_actor(uint32_t tid)
{
	bool loop = tid == LOOP_TID;

	return (struct actor){.key = {.tgid = TGID, .tid = tid},
			      .kind = ACTOR_THREAD,
			      .runtime = run.program->tokio ? RUNTIME_UNSEEN : 0,
			      .loop = loop ? ACTOR_LOOP : ACTOR_BLOCKS,
			      .path = run.path,
			      .phase = run.phase,
			      .turn = {.switches = store_turn}};
}

struct job *sim_job_of(uint32_t chain)
{
	return &run.job[chain / CHAINS_MAX];
}

uint32_t sim_tid_of(uint32_t chain)
{
	return chain == OWN ? LOOP_TID : sim_job_of(chain)->tid;
}

uint32_t sim_shift(uint32_t *list, uint32_t *count)
{
	uint32_t first = list[0];

	memmove(list, list + 1, --*count * sizeof(list[0]));
	return first;
}

static bool is_read(const struct event *event)
{
	return event->kind == REQUEST || event->kind == PIECE || event->kind == ANSWER ||
	       event->kind == ASKED;
}

/* By which of its ways a call of its own comes, as part of the path. */
static uint32_t own_way(void)
{
	uint32_t ways = run.program->own_ways;

	return ways ? random_in(&run.random, 0, ways - 1) * OWN_WAY : 0;
}

static void handle(const struct event *event)
{
	run.path = 0x1000 + event->kind;
	if (run.program->names)
		run.phase = is_read(event) ? PHASE_READING : PHASE_APART;
	if (!is_read(event))
		immediates_miss(&run.immediates);
	switch (event->kind) {
	case FOUND:
		sim_on_found(event->index);
		break;
	case REQUEST:
		sim_on_request(event->index);
		break;
	case CONNECTED:
		sim_on_connected(event->index);
		break;
	case PIECE:
		sim_on_piece(event->index);
		break;
	case ANSWER:
		sim_on_answer(event->index);
		break;
	case ASKED:
		sim_on_asked();
		break;
	case TIMER:
		sim_begin_call(event->index);
		break;
	case WORK:
		sim_first_calls(event->index);
		break;
	case OUTLIVES:
		sim_begin_call(OWN);
		break;
	case BACKGROUND:
		run.path += own_way();
		sim_begin_call(OWN);
		sim_schedule(random_in(&run.random, 1, BACKGROUND_MAX), BACKGROUND, 0);
		break;
	}
}

static bool is_timer(const struct event *event)
{
	return event->kind == TIMER || event->kind == BACKGROUND || event->kind == OUTLIVES;
}

/* What was left, and who has waited. */
static void run_tasks(void)
{
	for (; run.freed; run.freed--)
		sim_give_turn();
	while (run.tasks) {
		uint32_t which =
		    run.program->shuffled ? random_in(&run.random, 0, run.tasks - 1) : 0;
		uint32_t chain = run.task[which];

		memmove(&run.task[which], &run.task[which + 1],
			(--run.tasks - which) * sizeof(run.task[0]));
		run.path = 0x1000;
		sim_begin_call(chain);
	}
}

/* The same in Node: each thing that was left for later does what it was left for. */
static void run_immediates(void)
{
	enum program_later how = run.program->later;

	immediates_begin(&run.immediates, &loop_key);
	for (uint32_t i = 0; i < run.lefts; i++) {
		run.runs = run.left[i];
		do
			sim_begin_call(how == LATER_EACH ? sim_shift(run.task, &run.tasks)
							 : run.task[--run.tasks]);
		while (how == LATER_ALL && run.tasks);
	}
	run.runs = run.lefts = 0;
}

/* Connections are closed: beside what was read, when all was. */
static void run_closings(void)
{
	run.phase = run.program->names ? PHASE_APART : PHASE_UNTOLD;
	run.path = 0x1000 - 1;
	while (run.closings) {
		run.connection[sim_shift(run.closing, &run.closings)].open = false;
		sim_give_turn();
	}
}

/* A turn of the loop begins, as far as can be told. */
static void begin_turn(bool timers)
{
	if (timers && run.program->timers_beside)
		return;
	store_turn += !run.program->busy || random_in(&run.random, 0, 1);
}

/* All events that are due: timers in a turn of their own, as a rule. */
static void turn(bool timers)
{
	struct event due[EVENTS_MAX];
	uint32_t count = 0, left = 0;

	begin_turn(timers);
	for (uint32_t i = 0; i < run.events; i++) {
		if (run.event[i].at <= run.now && is_timer(&run.event[i]) == timers)
			due[count++] = run.event[i];
		else
			run.event[left++] = run.event[i];
	}
	run.events = left;
	for (uint32_t i = 0; i < count; i++) {
		handle(&due[i]);
		if (run.program->mixed && random_in(&run.random, 0, 1))
			run_tasks();
	}
	if (run.program->later)
		run_immediates();
	run_tasks();
	run_closings();
}

static void check_nothing_is_left(void)
{
	__u32 tgid = TGID;
	const struct process *p = process_lookup(&tgid);

	assert_int_equal(store_traces_count(), 0);
	assert_non_null(p);
	for (enum standing i = STANDING_IDLE; i < STANDING_COUNT; i++)
		assert_int_equal(p->tally.in[i], 0);
}

struct score program_run(const struct program *program)
{
	store_clear();
	memset(&run, 0, sizeof(run));
	run.program = program;
	run.random.state = program->seed;
	run.immediates.delay = program->seed % 3 * 20;
	run.pipeline.client.flags =
	    SOCKET_CLIENT | (program->told ? SOCKET_SHARED | SOCKET_ASKS : 0);
	for (uint32_t i = 0; i < sim_in_flight(); i++)
		sim_new_request(random_in(&run.random, 0, 20) +
				(program->own_ways ? OWN_FIRST : 0));
	if (program->background)
		sim_schedule(1, BACKGROUND, 0);
	while (run.ended < program->requests) {
		turn(false);
		turn(true);
		run.now++;
	}
	check_nothing_is_left();
	return run.score;
}
