/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a simulated program (program.h), and what its parts do for each other: program.c has
 * the events, sim_requests.c what is to be called for a request, and when, sim_calls.c the calls.
 */
#ifndef CTXPROP_TEST_SIMULATION_H
#define CTXPROP_TEST_SIMULATION_H

#include <stdbool.h>
#include <stdint.h>

#include "immediates.h"
#include "pipeline.h"
#include "program.h"
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

enum event_kind {
	REQUEST,
	FOUND,
	CONNECTED,
	PIECE,
	ANSWER,
	ASKED,
	TIMER,
	BACKGROUND,
	OUTLIVES,
	WORK
};

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
	bool spare;     /* it is being opened, but nobody waits for it any more */
	bool kept_back; /* all of the answer was read, but not handled yet */
	uint32_t
	    chain; /* whose answer it waits for: job * CHAINS_MAX + which of its chains; or OWN */
	struct purpose purpose; /* until the peer's address is known */
	struct socket client;
};

/* The state of a run. */
struct simulation {
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
};

extern struct simulation run;

/* An event comes after so many steps. */
void sim_schedule(uint64_t delay, enum event_kind kind, uint32_t index);

/* Take the first one out of a list. */
uint32_t sim_shift(uint32_t *list, uint32_t *count);

struct actor sim_actor(uint32_t tid);
struct job *sim_job_of(uint32_t chain);
uint32_t sim_tid_of(uint32_t chain);

/* A request comes, after so many steps. */
void sim_new_request(uint64_t delay);

/* Requests at the same time, by now. */
uint32_t sim_in_flight(void);

/* It is read. */
void sim_on_request(uint32_t job);

/* The first call of each chain of a job. */
void sim_first_calls(uint32_t job);

/* What was asked for on the connection of all has come. */
void sim_on_asked(void);

/* A chain has got what it has asked for. */
void sim_go_on(uint32_t chain);

/* So have all that wait for it. */
void sim_all_go_on(struct shared *s);

/* A chain begins a call, or waits until it may. */
void sim_begin_call(uint32_t chain);

/* There is room for one call more: whoever waits longest gets it. */
void sim_give_turn(void);

/* The address that a connection was asked for with is known. */
void sim_on_found(uint32_t connection);

/* It is connected: the call that it was opened for is sent, if nobody else has sent that. */
void sim_on_connected(uint32_t connection);

/* It is connected, or free: the call is sent. */
void sim_send_call(uint32_t connection);

/* The first part of an answer is read. */
void sim_on_piece(uint32_t connection);

/* An answer, or the rest of it, is read: it is handled at once, or with the next one. */
void sim_on_answer(uint32_t connection);

#endif
