// SPDX-License-Identifier: Apache-2.0
/* Calls of a simulated program, the connections that they are made on, and their answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "simulation.h"
#include "store.h"
#include "engine/engine.h"

/* The same, and it connects now, or calls. */
static struct actor acting(uint32_t tid, bool calls)
{
	struct actor a = sim_actor(tid);

	if (run.runs)
		a.phase = immediates_phase(&run.immediates, &a.key, run.runs, calls);
	return a;
}

static void judge(uint32_t chain, uint64_t named)
{
	if (chain == OWN) {
		run.score.own++;
		run.score.own_wrong += named != 0;
	} else if (!named) {
		run.score.unknown++;
	} else if (named == sim_job_of(chain)->id) {
		run.score.right++;
	} else {
		run.score.wrong++;
	}
}

void sim_send_call(uint32_t index)
{
	struct connection *c = &run.connection[index];
	struct actor by = acting(sim_tid_of(c->chain), true);
	const struct call *call;

	c->busy = true;
	assert_true(socket_is_quiet(&c->client));
	engine_call(&c->client, &by, 1000 * c->client.calls_end, 80);
	engine_call_limit(&c->client, &by, 80);
	call = socket_last_call(&c->client);
	judge(c->chain, call->evidence ? call->request : 0);
	sim_schedule(random_in(&run.random, 1, 30), run.program->pieces ? PIECE : ANSWER, index);
}

/* A connection that is free, or CONNECTIONS. */
static uint32_t free_connection(void)
{
	for (uint32_t i = 0; i < CONNECTIONS; i++)
		if (run.connection[i].open && !run.connection[i].busy)
			return i;
	return CONNECTIONS;
}

static uint32_t open_connections(void)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < CONNECTIONS; i++)
		count += run.connection[i].open;
	return count;
}

static void open_connection(uint32_t chain)
{
	struct actor by = acting(sim_tid_of(chain), false);
	uint32_t i = 0;

	while (run.connection[i].open)
		i++;
	run.connection[i] = (struct connection){.open = true, .busy = true, .chain = chain};
	if (run.program->names) {
		engine_open(&run.connection[i].purpose, &by);
		sim_schedule(random_in(&run.random, 1, 10), FOUND, i);
		return;
	}
	engine_connect(&run.connection[i].client, &by, NULL);
	sim_schedule(random_in(&run.random, 1, 3), CONNECTED, i);
}

/* The address that a connection was asked for with is known. */
void sim_on_found(uint32_t index)
{
	struct connection *c = &run.connection[index];
	struct actor by = sim_actor(sim_tid_of(c->chain));

	engine_connect(&c->client, &by, &c->purpose);
	sim_schedule(random_in(&run.random, 1, 3), CONNECTED, index);
}

void sim_begin_call(uint32_t chain)
{
	uint32_t i = run.program->keep ? free_connection() : CONNECTIONS;
	uint32_t most = run.program->connections, turns = run.program->at_once;

	if ((turns && run.running >= turns) ||
	    (i == CONNECTIONS && most && open_connections() >= most)) {
		run.waiting[run.waits++] = chain;
		return;
	}
	run.running++;
	if (i < CONNECTIONS) {
		run.connection[i].chain = chain;
		sim_send_call(i);
	} else {
		open_connection(chain);
	}
}

/* There is room for one call more: whoever waits longest gets it. */
void sim_give_turn(void)
{
	run.running--;
	if (run.waits)
		sim_begin_call(sim_shift(run.waiting, &run.waits));
}

void sim_on_connected(uint32_t index)
{
	struct connection *c = &run.connection[index];

	if (!c->spare)
		sim_send_call(index);
	else
		c->spare = c->busy = false;
}

/* A connection is free: who has another one opened takes it. Returns whether anybody has. */
static bool is_taken_instead(uint32_t index)
{
	struct connection *opening;

	for (uint32_t i = 0; i < CONNECTIONS; i++) {
		opening = &run.connection[i];
		if (!opening->open || !opening->busy || opening->spare || opening->client.calls_end)
			continue;
		opening->spare = true;
		run.connection[index].chain = opening->chain;
		sim_send_call(index);
		return true;
	}
	return false;
}

/* The connection is free, or it is closed. */
static void release(uint32_t index)
{
	struct connection *c = &run.connection[index];

	if (run.program->closes_later && run.waits) {
		c->chain = sim_shift(run.waiting, &run.waits);
		sim_send_call(index);
		return;
	}
	c->busy = false;
	if (!run.program->keep)
		engine_close(&c->client);
	if (run.program->closes_later) {
		run.closing[run.closings++] = index;
		return;
	}
	c->open = run.program->keep;
	if (run.program->races && is_taken_instead(index))
		return;
	if (run.program->turns_last)
		run.freed++;
	else
		sim_give_turn();
}

static void read_answer(struct connection *c)
{
	struct actor by = sim_actor(sim_tid_of(c->chain));

	engine_answer(&c->client, &by, actor_thread(&by));
	immediates_read(&run.immediates, &by.key);
}

void sim_on_piece(uint32_t index)
{
	read_answer(&run.connection[index]);
	sim_schedule(random_in(&run.random, 0, 20), ANSWER, index);
}

static void handle_answer(uint32_t index)
{
	uint32_t chain = run.connection[index].chain;

	run.connection[index].kept_back = false;
	release(index);
	if (chain == OWN)
		return;
	if (run.asks[chain])
		sim_all_go_on(&run.shared[run.asks[chain] - 1]);
	else
		sim_go_on(chain);
}

static bool is_of_job(const struct connection *c, uint32_t job)
{
	return c->open && c->busy && c->chain != OWN && c->chain / CHAINS_MAX == job;
}

/* Another call of the same request is under way. */
static bool has_others(uint32_t index)
{
	uint32_t job = run.connection[index].chain / CHAINS_MAX;

	for (uint32_t i = 0; i < CONNECTIONS; i++)
		if (i != index && is_of_job(&run.connection[i], job) &&
		    !run.connection[i].kept_back && run.connection[i].client.calls_end)
			return true;
	return false;
}

/* An answer, or the rest of it, is read: it is handled at once, or with the next one. */
void sim_on_answer(uint32_t index)
{
	struct connection *c = &run.connection[index];
	uint32_t job = c->chain / CHAINS_MAX;
	bool own = c->chain == OWN;

	read_answer(c);
	if (run.program->keeps_back && !own && has_others(index) && random_in(&run.random, 0, 1)) {
		c->kept_back = true;
		return;
	}
	handle_answer(index);
	for (uint32_t i = 0; !own && i < CONNECTIONS; i++)
		if (is_of_job(&run.connection[i], job) && run.connection[i].kept_back)
			handle_answer(i);
}
