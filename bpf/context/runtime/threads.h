/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Programs whose threads do the work: what the probes keep of their event loops. */
#ifndef CTXPROP_CONTEXT_RUNTIME_THREADS_H
#define CTXPROP_CONTEXT_RUNTIME_THREADS_H

#include "context/runtime/common.h"

/*
 * Which thread has read a request last from a socket that an epoll set watches. (A program that was
 * forked begins with its maker's.)
 */
struct runtime_threads {
	__u64 set;    /* address of the set, when that thread was not the last one; 0: nobody has */
	__u64 reader; /* process and thread */
};

#endif
