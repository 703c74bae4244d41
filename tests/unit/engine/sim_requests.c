// SPDX-License-Identifier: Apache-2.0
/* Requests of a simulated program: who works on them, and what they wait for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "simulation.h"
#include "store.h"
#include "engine/engine.h"

static const struct worker_key loop_key = {.tgid = TGID, .tid = LOOP_TID};

/* Does the chain wait for the answer to another one's call? Or it begins one for others, too. */
static bool waits_for_shared(uint32_t chain)
{
	struct shared *s;
	uint32_t which;

	run.asks[chain] = 0;
	if (!run.program->shares || random_in(&run.random, 0, 1))
		return false;
	which = random_in(&run.random, 1, SHARED);
	s = &run.shared[which - 1];
	s->waiting[s->waits++] = chain;
	if (s->waits == 1)
		run.asks[chain] = which;
	return s->waits > 1;
}

/*
 * A chain asks for something on the connection of all. `waits`: it calls when it has the answer;
 * OWN: nobody does.
 */
static void ask(uint32_t chain, uint32_t waits)
{
	struct actor by = sim_actor(sim_tid_of(chain));
	uint64_t at =
	    pipeline_ask(&run.pipeline, &by, waits, run.now, random_in(&run.random, 1, 6));

	sim_schedule(at - run.now, ASKED, 0);
}

/* What was asked for on the connection of all has come. */
void sim_on_asked(void)
{
	struct actor by = sim_actor(LOOP_TID);
	uint32_t chain[PIPELINE_ASKS];
	uint32_t answers = pipeline_read(&run.pipeline, &by, run.now, chain);

	for (uint32_t i = 0; i < answers; i++)
		if (chain[i] != OWN)
			sim_begin_call(chain[i]);
}

/* The chain goes on when all was read that has come. */
static void leave(uint32_t chain)
{
	if (run.program->later && (run.program->later != LATER_ALL || !run.tasks))
		run.left[run.lefts++] = immediates_make(&run.immediates);
	run.task[run.tasks++] = chain;
}

/* The next call of a chain. */
static void want_call(uint32_t chain)
{
	if (run.program->tells && !random_in(&run.random, 0, 3))
		ask(chain, OWN);
	if (run.program->asks && random_in(&run.random, 0, run.program->asks - 1) == 0) {
		ask(chain, chain);
		return;
	}
	if (waits_for_shared(chain))
		return;
	if (run.program->pause)
		sim_schedule(random_in(&run.random, 1, 10), TIMER, chain);
	else if (run.program->tasks || run.program->later)
		leave(chain);
	else
		sim_begin_call(chain);
}

/* The first call of each chain of a job. */
void sim_first_calls(uint32_t job)
{
	for (uint32_t i = 0; i < CHAINS_MAX; i++)
		if (run.job[job].left[i])
			want_call(job * CHAINS_MAX + i);
}

/* How many calls a request makes, in which chains. */
static void plan(struct job *job)
{
	uint32_t calls = random_in(&run.random, 1, run.program->calls_max);
	bool serial = run.program->calm_serial && run.ended < run.program->calm;
	bool parallel = run.program->parallel && !serial && random_in(&run.random, 0, 1);

	job->left[0] = parallel ? 1 : calls;
	for (uint32_t i = 1; parallel && i < calls; i++)
		job->left[i] = 1;
	if (run.program->chains && !serial && random_in(&run.random, 0, 1))
		for (uint32_t i = 0; i < 2; i++)
			job->left[i] = random_in(&run.random, 1, run.program->calls_max);
}

void sim_new_request(uint64_t delay)
{
	uint32_t i = 0;

	while (run.job[i].id)
		i++;
	run.job[i] = (struct job){.id = ++run.last_id};
	run.job[i].tid = run.program->kind == PROGRAM_THREADS ? 200 + i : LOOP_TID;
	plan(&run.job[i]);
	store_request(run.job[i].id);
	run.started++;
	sim_schedule(delay, REQUEST, i);
}

/* A worker takes the job; the reader wakes it up if it sleeps. */
static void work(uint32_t job, uint32_t worker, bool asleep)
{
	struct actor reader = sim_actor(LOOP_TID);
	struct worker_key key = {.tgid = TGID, .tid = 300 + worker};

	run.busy[worker] = true;
	run.job[job].tid = key.tid;
	if (asleep)
		engine_hand_over(&reader, &key, EVIDENCE_WAKE);
	sim_schedule(random_in(&run.random, 0, 2), WORK, job);
}

static void give_to_pool(uint32_t job)
{
	for (uint32_t i = 0; i < run.program->workers; i++)
		if (!run.busy[i]) {
			work(job, i, true);
			return;
		}
	run.queue[run.queued++] = job;
}

/* Requests at the same time, by now. */
uint32_t sim_in_flight(void)
{
	return run.ended < run.program->calm ? 1 : run.program->in_flight;
}

static void respond(uint32_t index)
{
	struct job *job = &run.job[index];
	uint32_t worker = job->tid - 300;

	immediates_respond(&run.immediates, &loop_key, job->id);
	engine_respond(&job->server);
	engine_end(job->id);
	request_delete(job->id);
	job->id = 0;
	run.ended++;
	if (run.program->outlives && random_in(&run.random, 0, 1))
		sim_schedule(random_in(&run.random, 1, 30), OUTLIVES, 0);
	if (run.program->kind == PROGRAM_POOL) {
		run.busy[worker] = false;
		if (run.queued)
			work(sim_shift(run.queue, &run.queued), worker, false);
	}
	while (run.started - run.ended < sim_in_flight() && run.started < run.program->requests)
		sim_new_request(random_in(&run.random, 0, 20));
}

void sim_on_request(uint32_t index)
{
	struct job *job = &run.job[index];
	struct actor by = sim_actor(job->tid);

	job->server = (struct socket){.flags = SOCKET_SERVER, .serving = job->id};
	engine_take(job->id, &by, run.now);
	engine_read(&job->server, &by, actor_thread(&by));
	immediates_read(&run.immediates, &by.key);
	if (run.program->kind == PROGRAM_POOL)
		give_to_pool(index);
	else
		sim_first_calls(index);
}

/* A chain has got what it has asked for. */
void sim_go_on(uint32_t chain)
{
	struct job *job = sim_job_of(chain);
	uint32_t calls = 0;

	job->left[chain % CHAINS_MAX]--;
	for (uint32_t i = 0; i < CHAINS_MAX; i++)
		calls += job->left[i];
	if (!calls)
		respond(chain / CHAINS_MAX);
	else if (job->left[chain % CHAINS_MAX])
		want_call(chain);
}

/* So have all that wait for it. */
void sim_all_go_on(struct shared *s)
{
	struct shared done = *s;

	s->waits = 0;
	for (uint32_t i = 0; i < done.waits; i++)
		sim_go_on(done.waiting[run.program->in_order ? i : done.waits - 1 - i]);
}
