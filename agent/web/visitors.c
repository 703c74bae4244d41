// SPDX-License-Identifier: Apache-2.0
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "web/visitors.h"

#define ASK_NS    (5 * NS_PER_SECOND)  /* until the request is there as a whole */
#define ANSWER_NS (30 * NS_PER_SECOND) /* from then until the answer has been fetched */
#define IDLE_NS   (15 * NS_PER_SECOND) /* until the next request is there as a whole */
#define LOOK_NS   (NS_PER_SECOND / 2)
#define PLACES    (VISITORS_MAX + VISITORS_GOING)

struct visitor {
	bool is_here, is_cut;
	bool is_asking; /* he waits for us, not we for him */
	int fd;
	unsigned char address[8]; /* that of IPv4, or the first half of that of IPv6 */
	__u64 since_ns, until_ns;
};

struct visitors {
	pthread_mutex_t lock;
	pthread_cond_t end;
	pthread_t thread;
	bool is_ended;
	struct visitor place[PLACES];
};

/* Shut the connection down; the thread that serves it notices that by the socket. */
static void cut(struct visitor *visitor)
{
	visitor->is_cut = true;
	shutdown(visitor->fd, SHUT_RDWR);
}

static void cut_late(struct visitors *visitors)
{
	const __u64 now_ns = clock_now_ns();

	for (size_t i = 0; i < PLACES; i++) {
		struct visitor *visitor = &visitors->place[i];

		if (visitor->is_here && !visitor->is_cut && visitor->until_ns <= now_ns)
			cut(visitor);
	}
}

static void *run(void *data)
{
	struct visitors *visitors = data;

	pthread_mutex_lock(&visitors->lock);
	while (!visitors->is_ended) {
		const __u64 next_ns = clock_now_ns() + LOOK_NS;
		const struct timespec next = {.tv_sec = (time_t)(next_ns / NS_PER_SECOND),
					      .tv_nsec = (long)(next_ns % NS_PER_SECOND)};

		cut_late(visitors);
		pthread_cond_timedwait(&visitors->end, &visitors->lock, &next);
	}
	pthread_mutex_unlock(&visitors->lock);
	return NULL;
}

struct visitors *visitors_new(void)
{
	struct visitors *visitors = calloc(1, sizeof(*visitors));
	pthread_condattr_t attributes;

	if (!visitors)
		return NULL;
	pthread_mutex_init(&visitors->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&visitors->end, &attributes);
	pthread_condattr_destroy(&attributes);
	if (!pthread_create(&visitors->thread, NULL, run, visitors))
		return visitors;
	free(visitors);
	return NULL;
}

void visitors_free(struct visitors *visitors)
{
	if (!visitors)
		return;
	pthread_mutex_lock(&visitors->lock);
	visitors->is_ended = true;
	pthread_cond_signal(&visitors->end);
	pthread_mutex_unlock(&visitors->lock);
	pthread_join(visitors->thread, NULL);
	pthread_cond_destroy(&visitors->end);
	pthread_mutex_destroy(&visitors->lock);
	free(visitors);
}

static void note_address(struct visitor *visitor, const struct sockaddr *address)
{
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;
	const struct sockaddr_in *four = (const struct sockaddr_in *)address;

	if (address->sa_family == AF_INET6)
		memcpy(visitor->address, &six->sin6_addr, sizeof(visitor->address));
	else
		memcpy(visitor->address, &four->sin_addr, sizeof(four->sin_addr));
}

static bool is_of(const struct visitor *visitor, const struct visitor *other)
{
	return !memcmp(visitor->address, other->address, sizeof(visitor->address));
}

/* The number of connections, of those from the address of `one` if it is not NULL. */
static unsigned int count(const struct visitors *visitors, const struct visitor *one)
{
	unsigned int here = 0;

	for (size_t i = 0; i < PLACES; i++) {
		const struct visitor *visitor = &visitors->place[i];

		here += visitor->is_here && !visitor->is_cut && (!one || is_of(visitor, one));
	}
	return here;
}

/* The one that was idle for the longest time; NULL: none is idle. */
static struct visitor *slowest(struct visitors *visitors, const struct visitor *of)
{
	struct visitor *found = NULL;

	for (size_t i = 0; i < PLACES; i++) {
		struct visitor *visitor = &visitors->place[i];

		if (visitor->is_here && !visitor->is_cut && !visitor->is_asking &&
		    (!of || is_of(visitor, of)) && (!found || visitor->since_ns < found->since_ns))
			found = visitor;
	}
	return found;
}

/* The new connection itself may be the one to be closed. */
static void make_room(struct visitors *visitors, const struct visitor *newcomer)
{
	struct visitor *gone = NULL;

	if (count(visitors, newcomer) > VISITORS_SHARE)
		gone = slowest(visitors, newcomer);
	else if (count(visitors, NULL) > VISITORS_MAX)
		gone = slowest(visitors, NULL);
	if (gone)
		cut(gone);
}

static struct visitor *free_place(struct visitors *visitors)
{
	for (size_t i = 0; i < PLACES; i++)
		if (!visitors->place[i].is_here)
			return &visitors->place[i];
	return NULL;
}

static void wait_until(struct visitor *visitor, bool is_asking, __u64 time_ns)
{
	visitor->is_asking = is_asking;
	visitor->since_ns = clock_now_ns();
	visitor->until_ns = visitor->since_ns + time_ns;
}

struct visitor *visitor_came(struct visitors *visitors, int fd, const struct sockaddr *address)
{
	struct visitor *visitor;

	pthread_mutex_lock(&visitors->lock);
	visitor = free_place(visitors);
	if (visitor) {
		*visitor = (struct visitor){.is_here = true, .fd = fd};
		note_address(visitor, address);
		wait_until(visitor, false, ASK_NS);
		make_room(visitors, visitor);
	}
	pthread_mutex_unlock(&visitors->lock);
	return visitor;
}

void visitor_asked(struct visitors *visitors, struct visitor *visitor)
{
	pthread_mutex_lock(&visitors->lock);
	wait_until(visitor, true, ANSWER_NS);
	pthread_mutex_unlock(&visitors->lock);
}

void visitor_answered(struct visitors *visitors, struct visitor *visitor)
{
	pthread_mutex_lock(&visitors->lock);
	wait_until(visitor, false, ANSWER_NS);
	pthread_mutex_unlock(&visitors->lock);
}

void visitor_done(struct visitors *visitors, struct visitor *visitor)
{
	pthread_mutex_lock(&visitors->lock);
	wait_until(visitor, false, IDLE_NS);
	pthread_mutex_unlock(&visitors->lock);
}

void visitor_left(struct visitors *visitors, struct visitor *visitor)
{
	pthread_mutex_lock(&visitors->lock);
	visitor->is_here = false;
	pthread_mutex_unlock(&visitors->lock);
}

unsigned int visitor_rivals(struct visitors *visitors, const struct visitor *visitor)
{
	unsigned int rivals = 0;

	pthread_mutex_lock(&visitors->lock);
	for (size_t i = 0; i < PLACES; i++) {
		const struct visitor *other = &visitors->place[i];

		rivals +=
		    other != visitor && other->is_here && other->is_asking && is_of(other, visitor);
	}
	pthread_mutex_unlock(&visitors->lock);
	return rivals;
}
