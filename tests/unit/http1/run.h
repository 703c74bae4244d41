/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the framing automaton natively over a stream that is cut into packets. */
#ifndef CTXPROP_TEST_RUN_H
#define CTXPROP_TEST_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http/http1/framing.h"

/* Events of one run that are kept. */
#define RUN_MARKS_MAX 4096
/* Characters of shown values that are kept. */
#define RUN_VALUES_MAX 4096

/* An event, and what the automaton knew then; of a line, only its place. */
struct run_mark {
	uint64_t at; /* stream bytes before it */
	uint64_t left;
	enum protocol_event event;
	uint16_t flags;
	uint16_t status;
	enum http1_stop stop;
};

struct run {
	struct run_mark marks[RUN_MARKS_MAX];
	size_t count;
	size_t steps;
	char values[RUN_VALUES_MAX]; /* those of PROTOCOL_VALUE; before each one, 'p', 's' or 'i'
					for its name */
	size_t values_len;
	const char *fault; /* a rule of the interface that was broken, or NULL */
};

struct run_input {
	enum protocol_kind kind;
	const uint8_t *bytes;
	size_t len;
	const size_t *cuts; /* ascending places where a packet ends; the end is always one */
	size_t cut_count;
	uint16_t answers; /* bit n: response n, modulo 16, answers a HEAD request */
	bool scan;        /* with http1_scan(): only the first of successive lines is an event */
	bool look;        /* step through bodies instead of skipping them */
};

/* Run over the whole input; `ret_run` is overwritten. */
void run_stream(const struct run_input *input, struct run *ret_run);

/* Keep only the first of successive lines. */
void run_thin(struct run *run);

/* The first mark in which the two differ, in words in `text`; false: they are the same. */
bool run_differ(const struct run *a, const struct run *b, char *text, size_t size);

#endif
