// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "load/node.h"
#include "runtime/publish.h"

#define LOOK_NS (3 * NS_PER_SECOND)
#define LINGER_NS                                                                                  \
	(30 * NS_PER_SECOND) /* who reads now and then loads its programs anew each time */
#define NS_PER_MS (NS_PER_SECOND / 1000)

static void give_up(struct publish *publish, int err)
{
	trace_readers_close(publish->readers);
	publish->readers = NULL;
	publish->state = NODE_PUBLISH_BLIND;
	publish->err = err;
}

static void look(struct publish *publish, __u64 now)
{
	struct trace_reader reader = {};
	int found = trace_readers_look(publish->readers, &reader);

	publish->next_ns = now + LOOK_NS;
	if (found < 0) {
		give_up(publish, found);
	} else if (found) {
		publish->read_ns = now;
		publish->state = NODE_PUBLISH_READ;
		publish->reader = reader;
	} else if (publish->state != NODE_PUBLISH_READ || now >= publish->read_ns + LINGER_NS) {
		publish->state = NODE_PUBLISH_UNREAD;
	}
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
	put_down(ret_publish);
}

void publish_close(struct publish *publish)
{
	trace_readers_close(publish->readers);
	publish->readers = NULL;
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
	const __u64 now = clock_now_ns();

	if (!publish->readers && !publish->untold)
		return -1;
	return now < publish->next_ns ? (int)((publish->next_ns - now) / NS_PER_MS) + 1 : 0;
}

bool publish_shows(const struct publish *publish)
{
	return publish->state == NODE_PUBLISH_ALWAYS || publish->state == NODE_PUBLISH_READ;
}
