// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work that goroutines hand to others over channels: whose message does who get? All places hold
 * the lock of the channel. And whom they wake then. Attached only to programs that have calls, or
 * samples, of unknown goroutines.
 */
#include "engine/maps.bpf.h"
#include "runtimes/go/handed.h"
#include "runtimes/go/maps.bpf.h"
#include "runtimes/go/uprobe.bpf.h"

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

/* Is request `id` of a goroutine that waits for some other one? */
static __always_inline int is_waited_for(const struct runtime *runtime, __u64 id)
{
	const struct request *r = request_lookup(id);

	return r && r->worker.context && goroutine_waits(&runtime->go, r->worker.context);
}

/* A message that hands over no work reaches a goroutine; of a timer: no goroutine has sent it. */
static __always_inline void signal(const struct runtime *runtime, const struct worker_key *to,
				   int is_of_timer)
{
	struct goroutine *receiver = goroutine_lookup(to);

	if (!receiver || !receiver->handed.request)
		return;
	goroutine_is_signalled(receiver,
			       is_of_timer && !is_waited_for(runtime, receiver->handed.request));
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

/* The request of a goroutine that is woken: that it has read, or was started for. */
static __always_inline __u64 works_for(const struct worker_key *key)
{
	const struct goroutine *goroutine = goroutine_lookup(key);
	__u64 own = goroutine_reads(key);

	if (own)
		return own;
	return goroutine && request_lookup(goroutine->inherited) ? goroutine->inherited : 0;
}

/* A goroutine wakes another one. If that waited for some goroutine, it was told of something. */
static __always_inline void wake(const struct runtime *runtime, const struct worker_key *from,
				 const struct worker_key *to)
{
	struct goroutine *waker = goroutine_lookup(from);
	__u64 request = waker && waker->handed.request ? works_for(to) : 0;

	if (request && goroutine_waits(&runtime->go, to->context))
		goroutine_tells(waker, request);
}

/* runtime.send: the current goroutine, or the scheduler, finds one that waits to receive. */
SEC("uprobe")
int probe_go_send(struct pt_regs *ctx)
{
	struct worker_key from, to;
	const struct runtime *runtime = NULL;

	if (!current_goroutine(&from, &runtime) && !runtime)
		return 0;
	to = from;
	to.context = user_read(second_argument(ctx) + GO_SUDOG_G);
	if (!from.context || message_size(first_argument(ctx)) < MESSAGE_SIZE_MIN)
		signal(runtime, &to, !from.context);
	else
		hand_over(&from, &to);
	if (from.context)
		wake(runtime, &from, &to);
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

	if (!current_goroutine(&to, &runtime))
		return 0;
	from = to;
	from.context = user_read(second_argument(ctx) + GO_SUDOG_G);
	if (size < MESSAGE_SIZE_MIN) {
		signal(runtime, &to, 0);
		return 0;
	}
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
	const struct runtime *runtime = NULL;

	if ((!current_goroutine(&key, &runtime) && !runtime) ||
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

	if (!current_goroutine(&key, &runtime))
		return 0;
	if (user_read(first_argument(ctx) + GO_TYPE_SIZE) < MESSAGE_SIZE_MIN) {
		signal(runtime, &key, 0);
		return 0;
	}
	place.tgid = key.tgid;
	place.address = second_argument(ctx);
	take(&place, &key);
	return 0;
}

/* A call of runtime.goready: the current goroutine wakes another one. */
SEC("uprobe")
int probe_go_wakes(struct pt_regs *ctx)
{
	struct worker_key from, to;
	const struct runtime *runtime;

	if (!current_goroutine(&from, &runtime))
		return 0;
	to = from;
	to.context = first_argument(ctx);
	wake(runtime, &from, &to);
	return 0;
}

/*
 * The current goroutine is done with something. Who waits for that may not be woken: he waits for
 * more, or does not yet.
 */
static __always_inline void ends(const struct worker_key *key, const struct runtime *runtime,
				 int is_of_group)
{
	struct goroutine *goroutine = goroutine_lookup(key);

	if (!goroutine || !goroutine->handed.request)
		return;
	goroutine->flags |= GOROUTINE_ENDED;
	if (is_of_group && is_waited_for(runtime, goroutine->handed.request))
		goroutine_tells(goroutine, goroutine->handed.request);
}

/* runtime.closechan */
SEC("uprobe")
int probe_go_closes(struct pt_regs *ctx)
{
	struct worker_key key;
	const struct runtime *runtime;

	if (current_goroutine(&key, &runtime))
		ends(&key, runtime, 0);
	return 0;
}

/* sync.(*WaitGroup).Add: less than nothing is Done(). */
SEC("uprobe")
int probe_go_group(struct pt_regs *ctx)
{
	struct worker_key key;
	const struct runtime *runtime;

	if ((__s64)second_argument(ctx) < 0 && current_goroutine(&key, &runtime))
		ends(&key, runtime, 1);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
