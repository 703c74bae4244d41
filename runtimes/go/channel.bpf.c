// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work that goroutines hand to others over channels: whose message does who get? All places hold
 * the lock of the channel. Attached only to programs that have calls of unknown goroutines.
 */
#include "runtimes/go/maps.bpf.h"
#include "runtimes/go/uprobe.bpf.h"

/*
 * A goroutine receives one message more. If it has done nothing about the one before, then it
 * collects messages, or they are things to use: from then on it may be at any of them. If it
 * has only sent something meanwhile, this one may be an answer, and not what it goes on with.
 */
static __always_inline void goroutine_gets(struct goroutine *receiver, const struct named *named)
{
	__u64 before = receiver->handed.request;
	__u64 done = receiver->flags & (GOROUTINE_SENT | GOROUTINE_STARTED);
	int differs = before && named->request && before != named->request;

	receiver->handed = *named;
	receiver->flags &= ~(__u64)(GOROUTINE_SENT | GOROUTINE_STARTED);
	if (differs && !(done & GOROUTINE_STARTED) && request_lookup(before)) {
		receiver->handed.doubtful = 1;
		if (!done)
			receiver->flags |= GOROUTINE_KEEPS;
	}
	if (receiver->flags & GOROUTINE_KEEPS)
		receiver->handed.request = 0;
}

/* A message with what is `named` reaches a goroutine. */
static __always_inline void deliver(const struct worker_key *to, const struct named *named)
{
	struct goroutine *receiver = goroutine_lookup(to);
	const struct worker *w = worker_lookup(to);
	struct goroutine first = {.handed = *named};

	if (w && tally_open(&w->tally))
		return; /* what it has read itself is what it works on */
	if (receiver)
		goroutine_gets(receiver, named);
	else if (named->request)
		goroutine_set(to, &first);
}

/* For which request a goroutine sends a message. */
static __always_inline struct named sending(const struct worker_key *from)
{
	struct named named = goroutine_sends(from);
	struct goroutine *sender = goroutine_lookup(from);

	if (sender)
		sender->flags |= GOROUTINE_SENT;
	if (sender && sender->flags & GOROUTINE_DIALS)
		named = (struct named){};
	return named;
}

/* Does the goroutine read or write for others, so that its messages are theirs? */
static __always_inline int is_go_between(const struct worker_key *key)
{
	const struct goroutine *goroutine = goroutine_lookup(key);

	return goroutine && (goroutine->connection || goroutine->flags & GOROUTINE_DIALS);
}

static __always_inline __u32 message_size(__u64 channel)
{
	return (__u16)user_read(channel + GO_HCHAN_ELEMSIZE);
}

static __always_inline void hand_over(const struct worker_key *from, const struct worker_key *to)
{
	struct named named;

	if (is_go_between(from))
		return;
	named = sending(from);
	deliver(to, &named);
}

/* Remember for which request the message in this place of a buffer was sent. */
static __always_inline void store(const struct process_address *place,
				  const struct worker_key *from)
{
	struct named *old = messages_lookup(place);
	struct named named = sending(from);

	if (old)
		*old = named;
	else if (named.request)
		messages_set(place, &named);
}

/* A message leaves its place in a buffer. */
static __always_inline void take(const struct process_address *place, const struct worker_key *to)
{
	struct named *found = messages_lookup(place);
	struct named named = {};

	if (found) {
		named = *found;
		found->request = 0;
	}
	deliver(to, &named);
}

/* runtime.send: the current goroutine finds one that waits to receive. */
SEC("uprobe")
int probe_go_send(struct pt_regs *ctx)
{
	struct worker_key from, to;
	const struct runtime *runtime;

	if (!current_goroutine(&from, &runtime) ||
	    message_size(first_argument(ctx)) < MESSAGE_SIZE_MIN)
		return 0;
	to = from;
	to.goroutine = user_read(second_argument(ctx) + GO_SUDOG_G);
	hand_over(&from, &to);
	return 0;
}

/*
 * runtime.recv: the current goroutine finds one that waits to send. If there is a buffer, it is
 * full: the message is taken from there, and the sender's goes to its place.
 */
SEC("uprobe")
int probe_go_receive(struct pt_regs *ctx)
{
	__u64 channel = first_argument(ctx);
	__u32 size = message_size(channel);
	struct process_address place = {};
	struct worker_key from, to;
	const struct runtime *runtime;

	if (!current_goroutine(&to, &runtime) || size < MESSAGE_SIZE_MIN)
		return 0;
	from = to;
	from.goroutine = user_read(second_argument(ctx) + GO_SUDOG_G);
	if (!user_read(channel + GO_HCHAN_DATAQSIZ)) {
		hand_over(&from, &to);
		return 0;
	}
	place.tgid = to.tgid;
	place.address = user_read(channel + GO_HCHAN_BUF) +
			size * user_read(channel + runtime->go.recvx_offset);
	take(&place, &to);
	store(&place, &from);
	return 0;
}

/*
 * A call of runtime.typedmemmove(type, to, from) that puts a message into a buffer. One of those
 * in runtime.selectgo takes one out of it instead: then it comes from a place that is known.
 */
SEC("uprobe")
int probe_go_store(struct pt_regs *ctx)
{
	struct process_address to = {}, from = {};
	struct worker_key key;
	const struct runtime *runtime;

	if (!current_goroutine(&key, &runtime) ||
	    user_read(first_argument(ctx) + GO_TYPE_SIZE) < MESSAGE_SIZE_MIN)
		return 0;
	to.tgid = from.tgid = key.tgid;
	to.address = second_argument(ctx);
	from.address = third_argument(ctx);
	if (!messages_lookup(&from))
		store(&to, &key);
	return 0;
}

/*
 * A call of runtime.typedmemclr(type, place): a message was received from this place of a buffer.
 * (Or it is a variable that is cleared since the channel is closed, with which nobody's message
 * was received.)
 */
SEC("uprobe")
int probe_go_take(struct pt_regs *ctx)
{
	struct process_address place = {};
	struct worker_key key;
	const struct runtime *runtime;

	if (!current_goroutine(&key, &runtime) ||
	    user_read(first_argument(ctx) + GO_TYPE_SIZE) < MESSAGE_SIZE_MIN)
		return 0;
	place.tgid = key.tgid;
	place.address = second_argument(ctx);
	take(&place, &key);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
