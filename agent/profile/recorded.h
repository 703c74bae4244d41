/* SPDX-License-Identifier: Apache-2.0 */
/* One window of a recorder: its samples, until they are a file. */
#ifndef CTXPROP_PROFILE_RECORDED_H
#define CTXPROP_PROFILE_RECORDED_H

#include "profile/recorder.h"
#include "profile/samples.h"
#include "profile/sampling.h"
#include "profile/window_file.h"

struct recorded {
	struct sampling *sampling; /* perhaps that of the next window, too */
	struct samples *samples;   /* NULL: there is no window */
	__s64 from_ns;             /* since 1970 */
	__u64 began_ns;            /* CLOCK_MONOTONIC */
	__u64 lasted_ns;           /* 0: it has not ended */
	__s64 to_s;                /* its end, since 1970 */
	__u64 lost, unclear;       /* what the sampler had counted before, then what it has since */
	bool is_tried;             /* writing it */
	bool is_written;           /* and that was done */
	bool is_open; /* if it were written now there might be more in it than in the file */
};

/* Begin a window that samples go to from now on. 0 or -ENOMEM. */
int recorded_begin(struct recorded *ret_recorded, struct sampling *sampling);

/* It has ended: take what the sampler has counted, and count it all. */
void recorded_end(struct recorded *recorded, struct recorder_counts *counts);

/*
 * Write its file in the folder, with the requests as the store has them; the first time windows
 * that are too old go. What was done, and what could not be, is told and counted; without a store
 * the requests are not known.
 */
void recorded_write(struct recorded *recorded, const struct recorder_options *options,
		    struct window_folder *folder);

/* Free the samples, and not what they were taken by. */
void recorded_free(struct recorded *recorded);

#endif
