// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "load/node.h"
#include "runtime/publish.h"

/*
 * A profiler that reads now and then loads its programs anew each time, so publishing goes on for a
 * while.
 */
#define LOOK_NS   (3 * NS_PER_SECOND)
#define LINGER_NS (30 * NS_PER_SECOND)

static void give_up(struct publish *publish, int err)
{
	trace_readers_close(publish->readers);
	publish->readers = NULL;
	publish->state = NODE_PUBLISH_BLIND;
	publish->err = err;
}

/* Somebody reads: from now on what threads work on is shown at moments of samples. */
static void attend_moments(struct publish *publish, __u64 now)
{
	if (publish->moments || publish->moments_err)
		return;
	publish->moments_err = moments_open(&publish->moments);
	publish->sampled_ns = now;
}

static void leave_moments(struct publish *publish)
{
	moments_close(publish->moments);
	publish->moments = NULL;
	publish->moments_err = 0;
	publish->met = 0;
}

/*
 * Is it enough to show contexts at moments of samples? Not for a program that does not sample, nor
 * if its samples are not seen, such as those of CPU counters.
 */
static bool is_sampled(struct publish *publish, __u64 now)
{
	__u64 met;

	if (!publish->moments || !publish->reader.samples)
		return false;
	met = moments_met(publish->moments);
	if (met != publish->met)
		publish->sampled_ns = now;
	publish->met = met;
	return now < publish->sampled_ns + LINGER_NS;
}

static void is_read(struct publish *publish, const struct trace_readers_seen *seen, __u64 now)
{
	publish->read_ns = now;
	publish->reader = seen->reader;
	attend_moments(publish, now);
	if (publish->moments)
		moments_leave_out(publish->moments, seen->own_samplers);
	publish->state = is_sampled(publish, now) ? NODE_PUBLISH_SAMPLED : NODE_PUBLISH_READ;
}

static bool was_read(const struct publish *publish)
{
	return publish->state == NODE_PUBLISH_READ || publish->state == NODE_PUBLISH_SAMPLED;
}

static void look(struct publish *publish, __u64 now)
{
	struct trace_readers_seen seen = {};
	int found = trace_readers_look(publish->readers, &seen);

	publish->next_ns = now + LOOK_NS;
	if (found > 0) {
		is_read(publish, &seen, now);
	} else if (found < 0 || !was_read(publish) || now >= publish->read_ns + LINGER_NS) {
		leave_moments(publish);
		publish->state = NODE_PUBLISH_UNREAD;
	}
	if (found < 0)
		give_up(publish, found);
}

/* The map of the node is for people and for other programs of ours: it may lag behind. */
static void put_down(struct publish *publish)
{
	if (publish->untold)
		publish->untold = node_set_publish(publish->state) != 0;
}

void publish_open(enum publish_mode mode, struct publish *ret_publish)
{
	int err;

	*ret_publish = (struct publish){.mode = mode, .untold = true};
	if (mode == PUBLISH_AUTO) {
		err = trace_readers_open(&ret_publish->readers);
		if (err)
			give_up(ret_publish, err);
		else
			look(ret_publish, clock_now_ns());
	} else {
		ret_publish->state =
		    mode == PUBLISH_ALWAYS ? NODE_PUBLISH_ALWAYS : NODE_PUBLISH_NEVER;
	}
	if (mode == PUBLISH_ALWAYS)
		attend_moments(ret_publish, clock_now_ns());
	put_down(ret_publish);
}

void publish_close(struct publish *publish)
{
	trace_readers_close(publish->readers);
	publish->readers = NULL;
	leave_moments(publish);
}

bool publish_do(struct publish *publish)
{
	const enum node_publish before = publish->state;
	const __u64 now = clock_now_ns();

	if (now < publish->next_ns)
		return false;
	publish->next_ns = now + LOOK_NS;
	if (publish->readers)
		look(publish, now);
	publish->untold |= publish->state != before;
	put_down(publish);
	return publish->state != before;
}

int publish_due_ms(const struct publish *publish)
{
	return publish->readers || publish->untold ? clock_ms_until(publish->next_ns) : -1;
}

bool publish_shows(const struct publish *publish)
{
	return publish->state == NODE_PUBLISH_ALWAYS || publish->state == NODE_PUBLISH_READ;
}
