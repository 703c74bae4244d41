// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "immediates.h"
#include "pipeline.h"
#include "program.h"
#include "store.h"
#include "context/engine.h"
#include "../random.h"

#define TGID           100
#define LOOP_TID       101
#define WORKERS_MAX    64
#define JOBS_MAX       128
#define CHAINS_MAX     3                       /* of calls, side by side, of one request */
#define OWN            (JOBS_MAX * CHAINS_MAX) /* the program's own calls are no chain's */
#define CONNECTIONS    512
#define BACKGROUND_MAX 40 /* steps between two calls of its own */
#define EVENTS_MAX     1024
#define SHARED         2 /* things that several requests ask for */

enum event_kind { REQUEST, FOUND, CONNECTED, PIECE, ANSWER, ASKED, TIMER, BACKGROUND, WORK };

struct event {
	uint64_t at;
	enum event_kind kind;
	uint32_t index; /* of the job, chain or connection */
};

/* A request, from its arrival to its response. */
struct job {
	uint64_t id; /* 0: the slot is free */
	uint32_t tid;
	uint32_t left[CHAINS_MAX]; /* calls of each chain that are not answered yet */
	struct socket server;
};

/* Who waits for one call; the first of them has begun it. */
struct shared {
	uint32_t waiting[OWN], waits;
};

struct connection {
	bool open, busy;
	bool kept_back; /* all of the answer was read, but not handled yet */
	uint32_t
	    chain; /* whose answer it waits for: job * CHAINS_MAX + which of its chains; or OWN */
	struct purpose purpose; /* until the peer's address is known */
	struct socket client;
};

/* The state of a run. */
static struct {
	const struct program *program;
	struct random random;
	uint64_t now, last_id;
	uint32_t path; /* through the program, of what happens now */
	enum actor_phase phase;
	uint32_t started, ended, events;
	struct event event[EVENTS_MAX];
	struct job job[JOBS_MAX];
	struct connection connection[CONNECTIONS];
	uint32_t waiting[OWN], waits; /* chains that wait for a connection, or for their turn */
	uint32_t running;             /* calls that have got their turn */
	uint32_t closing[CONNECTIONS], closings;
	uint32_t freed;            /* turns that are given away when all was read */
	uint32_t task[OWN], tasks; /* chains that go on at the end of the turn */
	uint64_t left[OWN], lefts; /* numbers of what makes them do so, as in Node */
	uint64_t runs;             /* the one that does so now; 0: none */
	struct immediates immediates;
	uint32_t queue[JOBS_MAX], queued; /* jobs that wait for a worker */
	bool busy[WORKERS_MAX];
	struct shared shared[SHARED];
	struct pipeline pipeline;
	uint32_t asks[OWN]; /* which of these a chain has begun, from 1 on; 0: a call of its own */
	struct score score;
} run;

static const struct worker_key loop_key = {.tgid = TGID, .tid = LOOP_TID};

static void schedule(uint64_t delay, enum event_kind kind, uint32_t index)
{
	assert_true(run.events < EVENTS_MAX);
	run.event[run.events++] = (struct event){run.now + delay, kind, index};
}

static struct actor actor(uint32_t tid)
{
	bool loop = tid == LOOP_TID;

	return (struct actor){.key = {.tgid = TGID, .tid = tid},
			      .kind = ACTOR_THREAD,
			      .loop = loop ? ACTOR_LOOP : ACTOR_BLOCKS,
			      .path = run.path,
			      .phase = run.phase,
			      .turn = {.switches = store_turn}};
}

static struct job *job_of(uint32_t chain)
{
	return &run.job[chain / CHAINS_MAX];
}

static uint32_t tid_of(uint32_t chain)
{
	return chain == OWN ? LOOP_TID : job_of(chain)->tid;
}

/* The same, and it connects now, or calls. */
static struct actor acting(uint32_t tid, bool calls)
{
	struct actor a = actor(tid);

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
	} else if (named == job_of(chain)->id) {
		run.score.right++;
	} else {
		run.score.wrong++;
	}
}

static void send_call(uint32_t index)
{
	struct connection *c = &run.connection[index];
	struct actor by = acting(tid_of(c->chain), true);
	const struct call *call;

	c->busy = true;
	assert_true(socket_is_quiet(&c->client));
	engine_call(&c->client, &by, 1000 * c->client.calls_end, 80);
	engine_crowd(&c->client, &by, 80);
	call = socket_last_call(&c->client);
	judge(c->chain, call->evidence ? call->request : 0);
	schedule(random_in(&run.random, 1, 30), run.program->pieces ? PIECE : ANSWER, index);
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
	struct actor by = acting(tid_of(chain), false);
	uint32_t i = 0;

	while (run.connection[i].open)
		i++;
	run.connection[i] = (struct connection){.open = true, .busy = true, .chain = chain};
	if (run.program->names) {
		engine_open(&run.connection[i].purpose, &by);
		schedule(random_in(&run.random, 1, 10), FOUND, i);
		return;
	}
	engine_connect(&run.connection[i].client, &by, NULL);
	schedule(random_in(&run.random, 1, 3), CONNECTED, i);
}

/* The address that a connection was asked for with is known. */
static void on_found(uint32_t index)
{
	struct connection *c = &run.connection[index];
	struct actor by = actor(tid_of(c->chain));

	engine_connect(&c->client, &by, &c->purpose);
	schedule(random_in(&run.random, 1, 3), CONNECTED, index);
}

static void begin_call(uint32_t chain)
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
		send_call(i);
	} else {
		open_connection(chain);
	}
}

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
	struct actor by = actor(tid_of(chain));
	uint64_t at =
	    pipeline_ask(&run.pipeline, &by, waits, run.now, random_in(&run.random, 1, 6));

	schedule(at - run.now, ASKED, 0);
}

/* What was asked for on the connection of all has come. */
static void on_asked(void)
{
	struct actor by = actor(LOOP_TID);
	uint32_t chain[PIPELINE_ASKS];
	uint32_t answers = pipeline_read(&run.pipeline, &by, run.now, chain);

	for (uint32_t i = 0; i < answers; i++)
		if (chain[i] != OWN)
			begin_call(chain[i]);
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
		schedule(random_in(&run.random, 1, 10), TIMER, chain);
	else if (run.program->tasks || run.program->later)
		leave(chain);
	else
		begin_call(chain);
}

/* The first call of each chain of a job. */
static void first_calls(uint32_t job)
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

static void new_request(uint64_t delay)
{
	uint32_t i = 0;

	while (run.job[i].id)
		i++;
	run.job[i] = (struct job){.id = ++run.last_id};
	run.job[i].tid = run.program->kind == PROGRAM_THREADS ? 200 + i : LOOP_TID;
	plan(&run.job[i]);
	store_request(run.job[i].id);
	run.started++;
	schedule(delay, REQUEST, i);
}

/* A worker takes the job; the reader wakes it up if it sleeps. */
static void work(uint32_t job, uint32_t worker, bool asleep)
{
	struct actor reader = actor(LOOP_TID);
	struct worker_key key = {.tgid = TGID, .tid = 300 + worker};

	run.busy[worker] = true;
	run.job[job].tid = key.tid;
	if (asleep)
		engine_hand_over(&reader, &key, EVIDENCE_WAKE);
	schedule(random_in(&run.random, 0, 2), WORK, job);
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

static uint32_t shift(uint32_t *list, uint32_t *count)
{
	uint32_t first = list[0];

	memmove(list, list + 1, --*count * sizeof(list[0]));
	return first;
}

/* Requests at the same time, by now. */
static uint32_t in_flight(void)
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
	if (run.program->kind == PROGRAM_POOL) {
		run.busy[worker] = false;
		if (run.queued)
			work(shift(run.queue, &run.queued), worker, false);
	}
	while (run.started - run.ended < in_flight() && run.started < run.program->requests)
		new_request(random_in(&run.random, 0, 20));
}

static void on_request(uint32_t index)
{
	struct job *job = &run.job[index];
	struct actor by = actor(job->tid);

	job->server = (struct socket){.flags = SOCKET_SERVER, .serving = job->id};
	engine_take(job->id, &by, run.now);
	engine_read(&job->server, &by, actor_thread(&by));
	immediates_read(&run.immediates, &by.key);
	if (run.program->kind == PROGRAM_POOL)
		give_to_pool(index);
	else
		first_calls(index);
}

/* There is room for one call more: whoever waits longest gets it. */
static void give_turn(void)
{
	run.running--;
	if (run.waits)
		begin_call(shift(run.waiting, &run.waits));
}

/* The connection is free, or it is closed. */
static void release(uint32_t index)
{
	struct connection *c = &run.connection[index];

	if (run.program->closes_later && run.waits) {
		c->chain = shift(run.waiting, &run.waits);
		send_call(index);
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
	if (run.program->turns_last)
		run.freed++;
	else
		give_turn();
}

static void read_answer(struct connection *c)
{
	struct actor by = actor(tid_of(c->chain));

	engine_answer(&c->client, &by, actor_thread(&by));
	immediates_read(&run.immediates, &by.key);
}

static void on_piece(uint32_t index)
{
	read_answer(&run.connection[index]);
	schedule(random_in(&run.random, 0, 20), ANSWER, index);
}

/* A chain has got what it has asked for. */
static void go_on(uint32_t chain)
{
	struct job *job = job_of(chain);
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
static void all_go_on(struct shared *s)
{
	struct shared done = *s;

	s->waits = 0;
	for (uint32_t i = 0; i < done.waits; i++)
		go_on(done.waiting[run.program->in_order ? i : done.waits - 1 - i]);
}

static void handle_answer(uint32_t index)
{
	uint32_t chain = run.connection[index].chain;

	run.connection[index].kept_back = false;
	release(index);
	if (chain == OWN)
		return;
	if (run.asks[chain])
		all_go_on(&run.shared[run.asks[chain] - 1]);
	else
		go_on(chain);
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
static void on_answer(uint32_t index)
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

static bool is_read(const struct event *event)
{
	return event->kind == REQUEST || event->kind == PIECE || event->kind == ANSWER ||
	       event->kind == ASKED;
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
		on_found(event->index);
		break;
	case REQUEST:
		on_request(event->index);
		break;
	case CONNECTED:
		send_call(event->index);
		break;
	case PIECE:
		on_piece(event->index);
		break;
	case ANSWER:
		on_answer(event->index);
		break;
	case ASKED:
		on_asked();
		break;
	case TIMER:
		begin_call(event->index);
		break;
	case WORK:
		first_calls(event->index);
		break;
	case BACKGROUND:
		begin_call(OWN);
		schedule(random_in(&run.random, 1, BACKGROUND_MAX), BACKGROUND, 0);
		break;
	}
}

static bool is_timer(const struct event *event)
{
	return event->kind == TIMER || event->kind == BACKGROUND;
}

/* What was left, and who has waited. */
static void run_tasks(void)
{
	for (; run.freed; run.freed--)
		give_turn();
	while (run.tasks) {
		uint32_t which =
		    run.program->shuffled ? random_in(&run.random, 0, run.tasks - 1) : 0;
		uint32_t chain = run.task[which];

		memmove(&run.task[which], &run.task[which + 1],
			(--run.tasks - which) * sizeof(run.task[0]));
		run.path = 0x1000;
		begin_call(chain);
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
			begin_call(how == LATER_EACH ? shift(run.task, &run.tasks)
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
		run.connection[shift(run.closing, &run.closings)].open = false;
		give_turn();
	}
}

/* All events that are due: timers in a turn of their own. */
static void turn(bool timers)
{
	struct event due[EVENTS_MAX];
	uint32_t count = 0, left = 0;

	store_turn += !run.program->busy || random_in(&run.random, 0, 1);
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
	for (uint32_t i = 0; i < in_flight(); i++)
		new_request(random_in(&run.random, 0, 20));
	if (program->background)
		schedule(1, BACKGROUND, 0);
	while (run.ended < program->requests) {
		turn(false);
		turn(true);
		run.now++;
	}
	check_nothing_is_left();
	return run.score;
}
