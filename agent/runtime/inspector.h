/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds out what processes run, each in a sandbox of its own, INSPECTOR_SIDE_BY_SIDE at a time. No
 * function here blocks, however large or damaged the files of a process are.
 *
 * Files for which that has failed are remembered, and not read again until one of them changes.
 */
#ifndef CTXPROP_INSPECTOR_H
#define CTXPROP_INSPECTOR_H

#include <stdbool.h>

#include "inspect/sandbox.h"
#include "inspect/subject.h"
#include "inspect/unreadable.h"
#include "runtime/classify.h"

#define INSPECTOR_SIDE_BY_SIDE 4
#define INSPECTOR_REFUSED_MAX  64 /* so many are remembered: the last ones */

/* Identifies files: those that are equal in this were read before. */
struct inspector_file {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec changed; /* st_ctim */
};

/* If its memory is read, also the process, since its memory may be what the reader fails at. */
struct inspector_refused {
	__u64 tgid, started;                           /* 0: any process with these files */
	struct inspector_file file[SUBJECT_FILES_MAX]; /* zeros where there is none */
};

struct inspector_run {
	__u32 tgid; /* 0: it is free */
	struct sandbox sandbox;
};

struct inspector {
	classify_known
	    known; /* asked in the sandbox, so that it may be slow, but changes nothing */
	void *data;
	int epoll_fd;
	struct inspector_run run[INSPECTOR_SIDE_BY_SIDE];
	struct inspector_refused refused[INSPECTOR_REFUSED_MAX];
	unsigned int refused_count; /* in all; the last ones are kept */
	struct unreadable unreadable;
};

/* What was found out about a process. */
struct inspection {
	__u32 tgid;
	int err; /* it is gone, or its program cannot be opened: nothing else is known */
	bool refused_before;    /* its files could not be read once, and were not read again */
	bool failed;            /* they could not be read */
	struct subject subject; /* to be closed */
	struct classified found;
};

/* 0 or -errno. `ret_inspector` must stay where it is. */
int inspector_open(classify_known known, void *data, struct inspector *ret_inspector);

/* Ends what still runs. */
void inspector_close(struct inspector *inspector);

/* Descriptor to wait for with POLLIN: something has ended. */
int inspector_fd(const struct inspector *inspector);

/* Is there room for one more? Does any run? */
bool inspector_has_room(const struct inspector *inspector);
bool inspector_runs(const struct inspector *inspector);

/*
 * Begin with a process; there must be room. 0; -EAGAIN: not now, because its files or memory could
 * not be read in time, or no sandbox can be started; or -errno.
 */
int inspector_start(struct inspector *inspector, __u32 tgid);

/* Take the result of an inspection that has ended. False: none has. */
bool inspector_take(struct inspector *inspector, struct inspection *ret_inspection);

/* Milliseconds until inspector_take() is to be called, whether one has ended or not; -1: none runs.
 */
int inspector_due_ms(const struct inspector *inspector);

#endif
