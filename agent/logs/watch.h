/* SPDX-License-Identifier: Apache-2.0 */
/* Records who writes into sockets, by a BPF program that is loaded only while this is open. */
#ifndef CTXPROP_LOGS_WATCH_H
#define CTXPROP_LOGS_WATCH_H

#include <stddef.h>

#include "record/lines.h"

struct watch;

/*
 * Load the program. `take` gets the records that watch_read() finds. Needs what reading the node's
 * contexts needs, CAP_BPF and CAP_PERFMON. 0, or -errno after the reason was written to `ret_why`.
 */
int watch_open(void (*take)(const struct line_record *record, void *data), void *data,
	       struct watch **ret_watch, char *ret_why, size_t size);
void watch_close(struct watch *watch);

/*
 * Tell of what is put into the queue of a unix stream socket, under the number `stream`: before
 * anybody writes to its other end. 0 or -errno.
 */
int watch_socket(struct watch *watch, int fd, __u32 stream);

/* To be polled: there are records. */
int watch_fd(struct watch *watch);

/* Hand over the records that there are. */
void watch_read(struct watch *watch);

#endif
