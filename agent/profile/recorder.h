/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A continuous profile: samples all the time, and writes those of each minute to a file of its own
 * (windows.h), with the requests that they belong to. A window is written soon after its end, and
 * once more half a window later if some of its requests had not ended by then.
 */
#ifndef CTXPROP_PROFILE_RECORDER_H
#define CTXPROP_PROFILE_RECORDER_H

#include <stdbool.h>

#include "profile/recorder_counts.h"
#include "profile/windows.h"

#define RECORDER_WHY_MAX 320

enum recorder_event {
	RECORDER_WRITTEN, /* a window */
	RECORDER_FAILED,  /* it, or something else could not be done; it goes on */
	RECORDER_RENEWED, /* its tables were begun anew */
};

struct recorder_options {
	unsigned int hz; /* on each CPU */
	bool off_cpu;
	unsigned int window_s;
	const char *store;              /* its file; the windows are beside it */
	const char *registry;           /* labels of programs, see registered.h */
	struct recorder_counts *counts; /* are added to */
	void (*tell)(enum recorder_event event, const char *text);
};

struct recorder;

/*
 * Begin. 0; -EBUSY: another process records there; or -errno. What is wrong is put into `ret_why`,
 * which has room for RECORDER_WHY_MAX.
 */
int recorder_open(const struct recorder_options *options, struct recorder **ret_recorder,
		  char *ret_why);

/* Do what is due. Returns in how many milliseconds there is more to do. */
unsigned int recorder_turn(struct recorder *recorder);

/* Take no more samples. */
void recorder_stop(struct recorder *recorder);

/* Write what was not written, by what the store has now, and end. NULL is allowed. */
void recorder_close(struct recorder *recorder);

#endif
