/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Programs whose threads do the work: what the probes keep of their event loops. */
#ifndef CTXPROP_RUNTIMES_NATIVE_LAYOUT_H
#define CTXPROP_RUNTIMES_NATIVE_LAYOUT_H

#include "runtimes/common.h"

/*
 * Which thread has read a request last from a socket that an epoll set watches. (A program that was
 * forked begins with its maker's.)
 */
struct runtime_loop {
	__u64 set;    /* address of the set, when that thread was not the last one; 0: nobody has */
	__u64 reader; /* process and thread */
};

/*
 * A connection whose last call was answered, and on which none has begun since: is what stands in
 * its object cleared when a call is over?
 */
struct objects_idle {
	__u64 socket; /* the kernel's; 0: none */
	__u64 object; /* of the connection, */
	__u64 by;     /* and of the request that it led to */
	__u32 shape;
	__u32 descriptor;
};

/*
 * What the program has of its connections in memory (runtimes/native/objects.h). Objects are told
 * by the descriptor that stands in them; its place is the same in all that are alike.
 */
struct runtime_objects {
	__u16 serving_at; /* bytes from the beginning, and 1, of those that requests come from; */
	__u16 calling_at; /* of those that calls are made with; 0: not known yet */
	__u32 looks;      /* calls that were looked at since objects have told something last */
	__u32 bad_shape;  /* a number for a way that did not hold; 0: there was none */
	__u32 shape;      /* one for the way from an object to that of a request, */
	__u8 kept;     /* by which they told the same when answers came, up to OBJECTS_KEPT times */
	__u8 cleared;  /* connections that led to no request between calls, up to habit
			  `objects-clear` */
	__u8 disputes; /* calls of which they told something else than what was certain */
	__u8 wrong;    /* 1: they have told what was not so, and tell nothing for ever after */
	__u32 reads;   /* requests that were looked at since a call began */
	struct objects_idle idle;
};

struct runtime_threads {
	struct runtime_loop loop;
	struct runtime_objects objects;
};

/* So many calls are looked at although nothing comes of it, and requests where none calls. */
#define OBJECTS_LOOKS 512

/* As often as this they have told enough to be looked at again. */
#define OBJECTS_KEPT 16

/* So often they may tell something else than what is certain. */
#define OBJECTS_DISPUTES 4

#endif
