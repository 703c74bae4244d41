// SPDX-License-Identifier: Apache-2.0
#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "otlp/queue.h"
#include "records.h"
#include "trace/span.h"

/* What stands before the texts is kept as it is. */
#define FIXED (offsetof(struct span, service) + offsetof(struct service, attributes))

/* The texts, which are all that stands behind it. */
#define TEXTS(X) X(service.attributes) X(method) X(path) X(route) X(host) X(agent)

#define TEXT_SIZE(name) +sizeof(((struct span *)NULL)->name)
_Static_assert(FIXED + (0 TEXTS(TEXT_SIZE)) <= sizeof(struct span) &&
		   sizeof(struct span) - FIXED - (0 TEXTS(TEXT_SIZE)) < _Alignof(struct span),
	       "these are all the texts, and nothing stands behind them");

struct packed {
	__s64 boot_to_wall_ns;
	char bytes[]; /* FIXED of the span, then its texts, each with its NUL */
};

/* A copy of a span; to be freed by free(). NULL: no memory. */
static struct packed *packed_new(const struct span *span, __s64 boot_to_wall_ns)
{
#define TEXT(name) span->name,
	const char *const texts[] = {TEXTS(TEXT)};
#undef TEXT
	size_t size = FIXED;
	struct packed *packed;
	char *end;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		size += strlen(texts[i]) + 1;
	packed = malloc(sizeof(*packed) + size);
	if (!packed)
		return NULL;
	packed->boot_to_wall_ns = boot_to_wall_ns;
	memcpy(packed->bytes, span, FIXED);
	end = packed->bytes + FIXED;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		end = stpcpy(end, texts[i]) + 1;
	return packed;
}

/* The span as it was. */
static void packed_read(const struct packed *packed, struct span *ret_span,
			__s64 *ret_boot_to_wall_ns)
{
#define TEXT(name) {ret_span->name, sizeof(ret_span->name)},
	const struct {
		char *to;
		size_t size;
	} texts[] = {TEXTS(TEXT)};
#undef TEXT
	const char *at = packed->bytes + FIXED;

	*ret_boot_to_wall_ns = packed->boot_to_wall_ns;
	memcpy(ret_span, packed->bytes, FIXED);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		text_copy(texts[i].to, texts[i].size, at);
		at += strlen(at) + 1;
	}
}

#define LOWER_NS   (NS_PER_SECOND / 4) /* a step of the bound downwards */
#define LOWER_STEP (RECORDING_SHED_ALL / 8)

struct queue {
	pthread_mutex_t mutex;
	pthread_cond_t news; /* by CLOCK_MONOTONIC */
	bool closed;
	size_t capacity, first, length;
	size_t awaited;        /* who takes waits for so many */
	__u64 first_put_ns;    /* when the oldest span of those that are waited for came */
	__u64 shed;            /* as in struct recording */
	__u64 lowered_ns;      /* since when there is room; the bound was lowered since then */
	struct packed *item[]; /* in a circle */
};

struct queue *queue_new(size_t capacity)
{
	struct queue *queue = calloc(1, sizeof(*queue) + capacity * sizeof(struct packed *));
	pthread_condattr_t attributes;

	if (!queue)
		return NULL;
	queue->capacity = capacity;
	pthread_mutex_init(&queue->mutex, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&queue->news, &attributes);
	pthread_condattr_destroy(&attributes);
	return queue;
}

static struct packed **item_at(struct queue *queue, size_t index)
{
	return &queue->item[(queue->first + index) % queue->capacity];
}

void queue_free(struct queue *queue)
{
	if (!queue)
		return;
	for (size_t i = 0; i < queue->length; i++)
		free(*item_at(queue, i));
	pthread_cond_destroy(&queue->news);
	pthread_mutex_destroy(&queue->mutex);
	free(queue);
}

/*
 * Lower the bound only by the time for which there has been room, so that a short pause does not
 * undo it.
 */
static void lower(struct queue *queue, __u64 now_ns)
{
	__u64 steps = (now_ns - queue->lowered_ns) / LOWER_NS;

	if (steps >= RECORDING_SHED_ALL / LOWER_STEP || steps * LOWER_STEP > queue->shed)
		queue->shed = 0;
	else
		queue->shed -= steps * LOWER_STEP;
	queue->lowered_ns += steps * LOWER_NS;
}

/*
 * Is there room for spans of this trace? As in the ring of records: when more than half of the
 * places are taken the bound rises with what waits, and the same traces are lost as a whole.
 */
static bool has_room(struct queue *queue, const __u8 trace_id[16])
{
	__u64 above = 2 * queue->length > queue->capacity ? 2 * queue->length - queue->capacity : 0;
	__u64 shed = above * (RECORDING_SHED_ALL / queue->capacity), bits;

	memcpy(&bits, trace_id + 8, sizeof(bits));
	if (above)
		queue->lowered_ns = clock_now_ns();
	else if (queue->shed)
		lower(queue, clock_now_ns());
	if (shed > queue->shed)
		queue->shed = shed;
	return queue->length < queue->capacity && recording_keeps(queue->shed, be64toh(bits));
}

/* Returns false when there is no room. */
static bool append(struct queue *queue, struct packed *packed, const __u8 trace_id[16])
{
	if (queue->closed || !has_room(queue, trace_id))
		return false;
	if (!queue->length)
		queue->first_put_ns = clock_now_ns();
	*item_at(queue, queue->length++) = packed;
	if (queue->length == 1 || queue->length == queue->awaited)
		pthread_cond_signal(&queue->news);
	return true;
}

bool queue_put(struct queue *queue, const struct span *span, __s64 boot_to_wall_ns)
{
	struct packed *packed = packed_new(span, boot_to_wall_ns);
	bool put;

	if (!packed)
		return false;
	pthread_mutex_lock(&queue->mutex);
	put = append(queue, packed, span->trace_id);
	pthread_mutex_unlock(&queue->mutex);
	if (!put)
		free(packed);
	return put;
}

/* Until then (CLOCK_MONOTONIC) or until there is news. Returns false when the time is over. */
static bool wait_until(struct queue *queue, __u64 ns)
{
	struct timespec end = {.tv_sec = (time_t)(ns / NS_PER_SECOND),
			       .tv_nsec = (long)(ns % NS_PER_SECOND)};

	return pthread_cond_timedwait(&queue->news, &queue->mutex, &end) != ETIMEDOUT;
}

static void wait_for(struct queue *queue, size_t count, __u64 patience_ns)
{
	bool in_time = true;

	queue->awaited = count;
	while (!queue->closed && !queue->length)
		pthread_cond_wait(&queue->news, &queue->mutex);
	while (!queue->closed && queue->length < count && in_time)
		in_time = wait_until(queue, queue->first_put_ns + patience_ns);
}

static void read_item(struct packed *packed, struct queue_item *ret_item)
{
	packed_read(packed, &ret_item->span, &ret_item->boot_to_wall_ns);
	free(packed);
}

size_t queue_take(struct queue *queue, struct queue_item *ret_items, size_t max, __u64 patience_ns)
{
	size_t count;

	pthread_mutex_lock(&queue->mutex);
	wait_for(queue, max, patience_ns);
	count = queue->length < max ? queue->length : max;
	for (size_t i = 0; i < count; i++)
		read_item(*item_at(queue, i), &ret_items[i]);
	queue->first = (queue->first + count) % queue->capacity;
	queue->length -= count;
	queue->first_put_ns = clock_now_ns();
	pthread_mutex_unlock(&queue->mutex);
	return count;
}

bool queue_wait_closed(struct queue *queue, __u64 ns)
{
	__u64 end_ns = clock_now_ns() + ns;
	bool closed;

	pthread_mutex_lock(&queue->mutex);
	while (!queue->closed && wait_until(queue, end_ns))
		;
	closed = queue->closed;
	pthread_mutex_unlock(&queue->mutex);
	return closed;
}

void queue_close(struct queue *queue)
{
	pthread_mutex_lock(&queue->mutex);
	queue->closed = true;
	pthread_cond_broadcast(&queue->news);
	pthread_mutex_unlock(&queue->mutex);
}

size_t queue_length(struct queue *queue)
{
	size_t length;

	pthread_mutex_lock(&queue->mutex);
	length = queue->length;
	pthread_mutex_unlock(&queue->mutex);
	return length;
}
