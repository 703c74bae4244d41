/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A simulated program: clients ask it, it asks others, and which call is for which request is
 * known. Its events go to the engine as the probes would tell them.
 */
#ifndef CTXPROP_TEST_PROGRAM_H
#define CTXPROP_TEST_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

enum program_kind {
	PROGRAM_THREADS, /* a thread for each request */
	PROGRAM_LOOP,    /* one thread for all, with epoll */
	PROGRAM_POOL,    /* one thread reads, others work; they wait for each other by futex */
};

/* When what is read leads to calls, in a program like those of Node (`names`). */
enum program_later {
	LATER_NOT,        /* in the course of reading */
	LATER_EACH,       /* when all was read that has come, each by something of its own */
	LATER_LAST_FIRST, /* the same, but the call that was wanted last is begun first */
	LATER_ALL,        /* one thing begins all of a turn, the last one first */
};

struct program {
	enum program_kind kind;
	uint32_t in_flight;   /* requests at the same time */
	uint32_t requests;    /* in all */
	uint32_t calm;        /* so many of them come one by one, before the others */
	bool calm_serial;     /* these make one call after the other, all of them */
	uint32_t calls_max;   /* one to so many calls per request, one after the other */
	bool parallel;        /* or, for every other request, all at once */
	bool chains;          /* or, for every other request, two such chains side by side */
	uint32_t connections; /* kept, and waited for if there are no more; 0: no limit */
	uint32_t workers;     /* PROGRAM_POOL */
	bool pieces;          /* answers come in two pieces */
	bool keep;            /* connections are used again */
	bool names;           /* as in Node: connections are asked for, addresses looked up, and
				 what comes of reading is told */
	bool closes_later;    /* connections are closed if nobody waits; who does then gets his when
				 that is done, beside what is read */
	bool keeps_back;      /* every other answer is handled with the request's next one */
	bool pause;           /* a timer runs before each call */
	bool tasks;           /* calls begin when all was read that has come */
	bool shuffled;        /* these in any order */
	bool mixed;           /* some of them between two reads */
	uint32_t at_once;     /* calls at a time, whatever connections there are; 0: no limit */
	bool turns_last;      /* who waited for his turn gets it when all was read that has come */
	bool busy;            /* it seldom sleeps: turns cannot always be told apart */
	bool background;      /* calls of its own, by a timer */
	uint32_t own_ways;    /* these come in so many ways through it, and the first one before
				 any request; 0: in one way */
	bool timers_beside;   /* timers run in the turn in which something was read, behind that */
	bool tokio;           /* its tasks take turns in the thread, and that is known (tasks.h) */
	bool races;           /* who has a connection opened takes one that is free before that, and
				 the new one is for whoever comes */
	bool outlives;        /* every other request leaves a task behind, which calls some time */
	bool shares;          /* every other call is for all who want the same meanwhile */
	uint32_t asks;        /* one of so many calls comes after something was asked for on a
				 connection that all requests share; 0: none */
	bool told;            /* that it is one of those is known from its first bytes on */
	bool tells;           /* now and then something is sent there whose answer nobody awaits */
	bool in_order; /* they go on in the order in which they asked for it, not backwards */
	enum program_later later;
	uint64_t seed;
};

struct score {
	uint32_t right, unknown, wrong;
	uint32_t own, own_wrong; /* calls of the program's own; those that were given a request */
};

/* Run to the end. Fails the test if anything is left in the tallies or for profilers to see. */
struct score program_run(const struct program *program);

#endif
