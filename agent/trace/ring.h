/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader of a BPF ring buffer (Linux 5.8, kernel/bpf/ringbuf.c) that says itself when it is done
 * with what it has read: who reads it again after a crash of this process finds all of that.
 * (libbpf's readers are done with a record as soon as they have read it.)
 */
#ifndef CTXPROP_RING_H
#define CTXPROP_RING_H

#include <stddef.h>

struct ring;

/* Map the ring of a descriptor, which is the caller's. 0 or -errno. */
int ring_open(int fd, struct ring **ret_ring);

/* NULL is allowed. */
void ring_close(struct ring *ring);

/* Wait until somebody calls for a reader, but so long at most. */
void ring_wait(const struct ring *ring, int timeout_ms);

/* Read what has come since, record by record, `count` of them at most. Returns how many it was. */
size_t ring_read(struct ring *ring, size_t count,
		 void (*on_record)(void *data, const void *record, size_t size), void *data);

/* Bytes that are not free: what has come, and what was read and is not done with. */
size_t ring_used(const struct ring *ring);

/* What was read is done with: its room is free again. */
void ring_release(struct ring *ring);

#endif
