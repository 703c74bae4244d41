/* SPDX-License-Identifier: Apache-2.0 */
/* A bounded queue of spans between two threads. Who puts never waits: what finds no room is left.
 */
#ifndef CTXPROP_OTLP_QUEUE_H
#define CTXPROP_OTLP_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "trace/span.h"

struct queue_item {
	struct span span;
	__s64 boot_to_wall_ns; /* makes its times those of the clock */
};

struct queue;

/* With room for so many spans. NULL: no memory. */
struct queue *queue_new(size_t capacity);
void queue_free(struct queue *queue);

/*
 * Returns false when there is no room for a copy, or the queue is closed. When more than half of it
 * is taken there is none for some traces, as a whole: by the last 56 bits of their ids.
 */
bool queue_put(struct queue *queue, const struct span *span, __s64 boot_to_wall_ns);

/*
 * Take up to `max` spans, oldest first, as soon as so many are there, `patience_ns` after the first
 * of them came, or the queue is closed. Waits for the first one. Returns how many were taken; 0:
 * the queue is closed and empty.
 */
size_t queue_take(struct queue *queue, struct queue_item *ret_items, size_t max, __u64 patience_ns);

/* Wait, no longer than that, until the queue is closed. Returns whether it is. */
bool queue_wait_closed(struct queue *queue, __u64 ns);

/* Nothing more comes: who waits is woken. */
void queue_close(struct queue *queue);

/* Spans that have not been taken. */
size_t queue_length(struct queue *queue);

#endif
