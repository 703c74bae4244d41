/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls of java.net.http's client: whoever has made one waits for a future, and any thread of the
 * client sends it. That one has the exchange on its stack, which knows its connection, and whether
 * it is being sent: so it is certain which call these bytes are. The future leads to the same call.
 */
#ifndef CTXPROP_PROBES_JAVA_CLIENT_BPF_H
#define CTXPROP_PROBES_JAVA_CLIENT_BPF_H

#include "probes/java_frame.bpf.h"

#define JAVA_CLIENT_STACK 1024 /* words of the sender's stack that are looked through */
#define JAVA_WAITER_STACK 256  /* and of one that waits */
#define JAVA_WAITS_MAX    4096 /* steps: threads, and chunks of their stacks */
#define JAVA_STATE_SENDS  2    /* Http1Exchange.State.BODY: from the head on, to the last byte */

/* A search for the exchange whose request the current thread sends. */
struct java_sends {
	const struct runtime_java *java;
	__u64 at, base;
	__u64 exchange; /* address of the Http1Exchange; 0: not found */
	__u32 descriptor;
	__u32 reserved;
};

/* Is a request of this exchange being sent, on the connection of the descriptor, which is open? */
static __always_inline int java_is_sent_on(const struct runtime_java *java, __u64 exchange,
					   __u32 descriptor)
{
	const struct java_client *client = &java->client;
	__u64 channel =
	    java_refers(java, java_refers(java, exchange, client->connection), client->channel);
	__u64 state = java_refers(java, exchange, client->state);

	return channel && state && java_is_channel(java, channel, descriptor) &&
	       !(user_read_narrow(channel + client->closed) & 0xff) &&
	       user_read_narrow(state + client->ordinal) == JAVA_STATE_SENDS;
}

/* The exchange that an object of the client is, or is a part of; 0: it is something else. */
static __always_inline __u64 java_exchange_of(const struct runtime_java *java, __u64 object)
{
	const struct java_client *client = &java->client;
	__u32 class = java_class(java, object);

	if (class == client->task_class) {
		object = java_refers(java, object, client->publisher);
		class = client->publisher_class;
	}
	if (class == client->publisher_class)
		return java_refers(java, object, client->exchange);
	return class == client->exchange_class ? object : 0;
}

/* As a callback of bpf_loop(). */
static long java_sends_chunk(__u32 index, struct java_sends *sends)
{
	__u64 words[JAVA_CHUNK], exchange;

	if (sends->at >= sends->base ||
	    bpf_probe_read_user(words, sizeof(words), (const void *)sends->at))
		return 1;
	for (int i = 0; i < JAVA_CHUNK; i++) {
		if (!java_may_be_object(sends->java, words[i]))
			continue;
		exchange = java_exchange_of(sends->java, words[i]);
		if (!exchange || !java_is_sent_on(sends->java, exchange, sends->descriptor))
			continue;
		sends->exchange = exchange;
		return 1;
	}
	sends->at += sizeof(words);
	return 0;
}

/* The MultiExchange of the call that the current thread sends; 0: it sends none of the client's. */
VERIFIED_ALONE __u64 java_client_call(__u32 tgid)
{
	const struct runtime *runtime = runtime_lookup(tgid);
	struct task_struct *task = bpf_get_current_task_btf();
	struct java_sends sends = {};

	if (!runtime)
		return 0;
	sends.java = &runtime->java;
	sends.at = syscall_stack(task) & ~(JAVA_WORD - 1);
	sends.base = java_stack_base(sends.java);
	sends.descriptor = (__u32)syscall_argument(task);
	bpf_loop(JAVA_CLIENT_STACK / JAVA_CHUNK, java_sends_chunk, &sends, 0);
	sends.exchange = java_refers(sends.java, sends.exchange, sends.java->client.owner);
	return java_refers(sends.java, sends.exchange, sends.java->client.multi);
}

/* The Signaller that the thread with this object waits for in a CompletableFuture; 0: none. */
static __always_inline __u64 java_signaller(const struct runtime_java *java, __u64 object)
{
	__u64 signaller = java_refers(java, object, java->blocker);

	return java_class(java, signaller) == java->client.signaller_class ? signaller : 0;
}

/* The request that a thread which has read some works on, if it is alive; java_is_at() tells. */
static __always_inline __u64 java_reader_request(const struct runtime_java *java, __u32 tgid,
						 const struct java_reader *reader)
{
	struct worker_key key = {.tgid = tgid, .tid = reader->tid};
	const struct worker *w = reader->tid ? worker_lookup(&key) : NULL;
	__u64 request = w ? java_request_of(w) : 0;

	return request && java_thread_of(java, reader->native) == reader->thread ? request : 0;
}

/* A search for the thread that waits for a call, among those that have read requests. */
struct java_waits {
	const struct runtime_java *java;
	const struct java_readers *readers;
	__u64 call;      /* the MultiExchange */
	__u64 request;   /* of who waits for it; 0: not found */
	__u64 at;        /* on the stack of the thread that is looked at */
	__u32 signaller; /* that it waits for, in 32 bits */
	__u32 left;      /* chunks of its stack that may be looked at yet */
	__u32 tgid;
	__u32 next, end; /* the next reader, and the one to stop at */
	__u32 reserved;
};

/* Does a future of the client's lead to the call? */
static __always_inline int java_leads_to(const struct runtime_java *java, __u64 future, __u64 call)
{
	const struct java_client *client = &java->client;

	future = java_refers(java, future, client->cancelable);
	future = java_refers(java, future, client->reference);
	return java_refers(java, future, client->referent) == call;
}

/* Who does what the thread with this object waits for: that of a FutureTask, or itself. */
static __always_inline __u64 java_worker_for(const struct runtime_java *java, __u64 object)
{
	__u64 future = java_awaits(java, object);

	return future ? java_refers(java, future, java->runner) : object;
}

static __always_inline void java_waits_next(struct java_waits *waits)
{
	const struct java_reader *reader =
	    &waits->readers->reader[waits->next++ & (JAVA_READERS - 1)];
	const struct runtime_java *java = waits->java;
	__u64 object, thread;

	waits->request = java_reader_request(java, waits->tgid, reader);
	if (!waits->request)
		return;
	object = java_worker_for(java, java_object(java, reader->thread));
	waits->signaller = java_narrow(java, java_signaller(java, object));
	thread = waits->signaller ? user_read(object + java->native) : 0;
	waits->at = thread ? user_read(thread + java->frames) : 0;
	waits->left = waits->at ? JAVA_WAITER_STACK / JAVA_CHUNK : 0;
}

/*
 * As a callback of bpf_loop(): the next thread, or the next chunk of this one's stack. The future
 * that it waits for is there, and has its Signaller.
 */
static long java_waits_step(__u32 index, struct java_waits *waits)
{
	__u64 words[JAVA_CHUNK];

	if (!waits->left) {
		waits->request = 0;
		if (waits->next >= waits->end)
			return 1;
		java_waits_next(waits);
		return 0;
	}
	waits->left--;
	if (bpf_probe_read_user(words, sizeof(words), (const void *)waits->at)) {
		waits->left = 0;
		return 0;
	}
	waits->at += sizeof(words);
	for (int i = 0; i < JAVA_CHUNK; i++) {
		if (!java_may_be_object(waits->java, words[i]) ||
		    java_class(waits->java, words[i]) != waits->java->client.future_class ||
		    user_read_narrow(words[i] + waits->java->client.stack) != waits->signaller)
			continue;
		waits->left = 0;
		return java_leads_to(waits->java, words[i], waits->call);
	}
	return 0;
}

/*
 * The request of a thread that waits for the call, itself or for another one that does, of the
 * readers from one place to another.
 */
VERIFIED_ALONE __u64 java_client_waiter(__u32 tgid, __u64 call, __u32 from, __u32 to)
{
	const struct runtime *runtime = runtime_lookup(tgid);
	struct java_waits waits = {.tgid = tgid, .call = call, .next = from, .end = to};

	waits.readers = bpf_map_lookup_elem(&java_readers, &tgid);
	if (!runtime || !waits.readers)
		return 0;
	waits.java = &runtime->java;
	bpf_loop(JAVA_WAITS_MAX, java_waits_step, &waits, 0);
	return waits.request;
}

/* Who has made a call, of the threads that have read requests. */
struct java_maker {
	__u64 call;    /* the MultiExchange */
	__u64 request; /* of who has made it; 0: not found */
	__u32 place;   /* of that one among the readers */
	__u32 idle;    /* requests that could begin a call now, of all that are at some thread */
	__u8 waits;    /* 1: the maker waits in a CompletableFuture */
	__u8 doubtful; /* 1: another one may wait for it, or the maker waits for something else */
	__u8 reserved[6];
};

struct java_makers {
	const struct runtime_java *java;
	const struct java_readers *readers;
	struct java_maker *maker;
	__u32 tgid;
	__u32 reserved;
};

/* As a callback of bpf_loop(). */
static long java_makers_step(__u32 index, struct java_makers *makers)
{
	const struct java_reader *reader = &makers->readers->reader[index & (JAVA_READERS - 1)];
	const struct runtime_java *java = makers->java;
	struct java_maker *maker = makers->maker;
	__u64 request = java_reader_request(java, makers->tgid, reader), object;
	struct java_made made;
	int may_call, waits;

	if (!request)
		return 0;
	may_call = standing_may_call(request_standing(request));
	maker->idle += may_call;
	made = java_made_by(java, reader);
	object = java_object(java, reader->thread);
	waits = user_read_narrow(object + java->blocker) != 0;
	if (java_is_among(&made, maker->call)) {
		maker->request = request;
		maker->place = index;
		maker->waits = waits && java_signaller(java, object);
		maker->doubtful |= waits && !maker->waits;
		return 0;
	}
	maker->doubtful |= may_call && (waits || user_read(reader->thread + java->enters) ||
					user_read(reader->thread + java->waits));
	return 0;
}

/* Who has made the call, since it has read its request. */
VERIFIED_ALONE int java_client_maker(__u32 tgid, struct java_maker *maker)
{
	const struct runtime *runtime = runtime_lookup(tgid);
	struct java_makers makers = {.tgid = tgid, .maker = maker};

	makers.readers = bpf_map_lookup_elem(&java_readers, &tgid);
	if (!maker || !runtime || !makers.readers)
		return 0;
	makers.java = &runtime->java;
	bpf_loop(JAVA_READERS, java_makers_step, &makers, 0);
	return 0;
}

/*
 * The request that a call of the client's is made for, which the current thread sends: that of who
 * waits for it, or else of who has made it. Returns whether it sends one. What is named counts only
 * if java_is_at() says so.
 */
VERIFIED_ALONE int java_client_sends(__u32 tgid, struct named *ret_named)
{
	const struct runtime *runtime = runtime_lookup(tgid);
	struct java_maker maker = {};
	__u64 request = 0;

	if (!runtime || !ret_named || !runtime->java.client.exchange_class)
		return 0;
	maker.call = java_client_call(tgid);
	if (!maker.call)
		return 0;
	java_client_maker(tgid, &maker);
	if (maker.waits)
		request = java_client_waiter(tgid, maker.call, maker.place, maker.place + 1);
	if (!request)
		request = java_client_waiter(tgid, maker.call, 0, JAVA_READERS);
	ret_named->request = request ? request : maker.request;
	ret_named->doubtful = !request && (maker.doubtful || process_may_call(tgid) > maker.idle);
	return 1;
}

#endif
