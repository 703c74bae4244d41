/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A continuous profile: samples all the time, and writes those of each minute to a file of its own
 * (windows.h), with the requests that they belong to. A window is written soon after its end, and
 * once more half a window later if some of its requests had not ended by then.
 */
#ifndef CTXPROP_PROFILE_KEEP_RECORDER_H
#define CTXPROP_PROFILE_KEEP_RECORDER_H

#include <stdbool.h>

#include "profile/keep/recorder_counts.h"
#include "profile/keep/windows.h"

#define RECORDER_WHY_MAX 320

#define RECORDER_FULL    90  /* when a table is so full (per cent), all are begun anew */
#define RECORDER_RENEW_S 600 /* the least time between two such renewals, in seconds */

enum recorder_event {
	RECORDER_WRITTEN, /* a window was written, without errors */
	RECORDER_FAILED,  /* a window could not be written; recording goes on */
	RECORDER_LACKS,   /* something else could not be done */
	RECORDER_CROWDED, /* windows were removed before their time: the device is full */
	RECORDER_RENEWED, /* its tables were begun anew */
	RECORDER_EVENTS,
};

struct recorder_options {
	unsigned int hz; /* on each CPU */
	bool off_cpu;
	unsigned int window_s;
	unsigned int full, renew_s;     /* as RECORDER_FULL and RECORDER_RENEW_S */
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

/*
 * Write what was not yet written, with the requests that the store has now, and free everything.
 * NULL is allowed.
 */
void recorder_close(struct recorder *recorder);

#endif
