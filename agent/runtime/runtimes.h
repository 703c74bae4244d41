/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds out what the processes that take requests (map `runtimes`) run. Only one daemon of the node
 * does it, the one that gets the lock; the others stand by.
 */
#ifndef CTXPROP_RUNTIMES_H
#define CTXPROP_RUNTIMES_H

#include <stdbool.h>
#include <linux/types.h>

#include "runtime/driver.h"
#include "runtime/publish.h"

/* What was found out about a process. */
struct runtimes_news {
	__u32 tgid;
	__u32 kind;           /* enum runtime_kind */
	const char *language; /* of what runs it, for people; or NULL */
	const char *why;      /* why it cannot be followed, or not beyond threads; or NULL */
	char follows[CLASSIFIED_TEXT_MAX]; /* what is followed, for people; or empty */
	int err;                           /* uprobes could not be attached: -errno */
	unsigned int refused; /* its files could not be read: how often that was so, of any */
	bool share; /* it has reached its share of a table; of no process: a table was full */
	const struct publish *publish; /* of no process: that has changed; else NULL */
	bool preloaded;                /* of no process: runtimes_preload() has come to its end */
	bool unix_sockets; /* of no process: they are followed from now on; -errno: they are not */
};

/* Called by the thread of runtimes_do(), and by the one of runtimes_preload(). */
typedef void (*runtimes_tell)(const struct runtimes_news *news);

/* The probes of a runtime could not be loaded: its name, for people, and -errno. */
typedef void (*runtimes_lack)(const char *runtime, int err);

struct runtimes;

/*
 * Stand by. `tell` hears of every process that runs something special, `lack` of runtimes whose
 * probes cannot be loaded, once. `http2`: streams of HTTP/2 are followed, too. 0 or -errno.
 */
int runtimes_open(runtimes_tell tell, runtimes_lack lack, enum publish_mode publish, bool http2,
		  struct runtimes **ret_runtimes);
void runtimes_close(struct runtimes *runtimes);

/* Descriptor to wait for with POLLIN; -1 while another daemon does the work. */
int runtimes_fd(const struct runtimes *runtimes);

/* Read which processes the probes ask for: runtimes_do() will inspect them. 0 or -errno. */
int runtimes_update(struct runtimes *runtimes);

/* Milliseconds until runtimes_do() has more to do; -1: it has nothing to do until there is news. */
int runtimes_due_ms(const struct runtimes *runtimes);

/* Have all been looked at that were asked for? Also true while another daemon does the work. */
bool runtimes_is_done(const struct runtimes *runtimes);

/*
 * Load the hooks of unix sockets, and (`all`) the probes of runtimes that no process was seen of so
 * far, by a thread beside the caller. Nothing happens while another daemon does the work, or if
 * that was begun.
 */
void runtimes_preload(struct runtimes *runtimes, bool all);

/*
 * To be called now and then, and on news: takes over when the other daemon is gone, begins to look
 * at processes and takes what was found, and detaches from programs that nobody runs any more. 0 or
 * -errno.
 */
int runtimes_do(struct runtimes *runtimes);

#endif
