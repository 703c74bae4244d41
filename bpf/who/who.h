/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What user space asks of whoever is at work in a process, and what it is told. */
#ifndef CTXPROP_WHO_WHO_H
#define CTXPROP_WHO_WHO_H

#include "engine/traces.h"
#include "engine/worker.h"

#define WHO_PAGE    4096
#define WHO_BEHIND  512  /* bytes behind a page that are kept with it, for what begins on it */
#define WHO_PAGES   4096 /* of one process */
#define WHO_MISSING 256  /* pages that can be missed by one question */

/* Map `who_pages`, by address: a part of the memory of the process that is asked about. */
struct who_page {
	__u32 length; /* bytes from the page's beginning on that could be read; 0: none */
	__u32 reserved;
	__u8 bytes[WHO_PAGE + WHO_BEHIND];
};

/* What a worker is. */
enum who_what {
	WHO_THREAD,
	WHO_GOROUTINE,
	WHO_TASK,     /* of asyncio: its context */
	WHO_CONTEXT,  /* of Python, which belongs to no known task */
	WHO_GREENLET, /* of gevent, eventlet */
	WHO_STREAM,   /* of HAProxy */
	WHO_VIRTUAL,  /* a virtual thread of Java */
	WHO_WHATS,
};

/* Who is at work, and on what. */
struct who_told {
	struct worker_key key;   /* a thread, or what its runtime has instead */
	struct traces_ctx shown; /* ids of the request; all zero: none is known */
	__u32 tid;               /* the thread that it runs on; 0: it runs on none */
	__u8 evidence;           /* enum evidence: by which the request is known */
	__u8 veto;               /* enum veto: why none is */
	__u8 what;               /* enum who_what */
	__u8 waits;              /* 1: it is not at work at the moment, but waits */
};
_Static_assert(sizeof(struct who_told) == 48, "who_told is shared");

#endif
