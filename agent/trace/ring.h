/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader of a BPF ring buffer (Linux 5.8, kernel/bpf/ringbuf.c) that frees what it has read only
 * when told to: until then the next reader finds it again if this process crashes. (libbpf's
 * readers free each record as soon as they have read it.)
 */
#ifndef CTXPROP_RING_H
#define CTXPROP_RING_H

#include <stddef.h>

struct ring;

/* Map the ring of a descriptor, which is the caller's. 0 or -errno. */
int ring_open(int fd, struct ring **ret_ring);

/* NULL is allowed. */
void ring_close(struct ring *ring);

/* Wait until a program wakes the reader, `timeout_ms` at most. */
void ring_wait(const struct ring *ring, int timeout_ms);

/* Read what has come since, record by record, `count` of them at most. Returns how many it was. */
size_t ring_read(struct ring *ring, size_t count,
		 void (*on_record)(void *data, const void *record, size_t size), void *data);

/* The number of bytes in use: what has come, and what was read and not yet freed. */
size_t ring_used(const struct ring *ring);

/* Free the room of what was read. */
void ring_release(struct ring *ring);

#endif
