/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls of java.net.http's client: whoever has made one waits for a future, and any thread of the
 * client sends it. That one has the exchange on its stack, which knows its connection, and whether
 * it is being sent: so it is certain which call these bytes are. The future leads to the same call.
 */
#ifndef CTXPROP_RUNTIMES_JAVA_CLIENT_BPF_H
#define CTXPROP_RUNTIMES_JAVA_CLIENT_BPF_H

#include "runtimes/java/call.bpf.h"
#include "runtimes/java/future.bpf.h"
#include "runtimes/java/maps.bpf.h"

#define JAVA_WAITER_STACK 256  /* words of the stack of a thread that waits, looked through */
#define JAVA_WAITS_MAX    4096 /* steps: threads, and chunks of their stacks */

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
	__u64 call;      /* the MultiExchange; 0: that on the connection of `descriptor` */
	__u64 begun;     /* the JavaThread that is in send() for it; 0: not known */
	__u64 request;   /* of who waits for it; 0: not found */
	__u64 at;        /* on the stack of the thread that is looked at */
	__u32 signaller; /* that it waits for, in 32 bits */
	__u32 left;      /* chunks of its stack that may be looked at yet */
	__u32 tgid;
	__u16 next, end; /* the next reader, and the one to stop at */
	__u8 unsure;     /* 1: the thread that is looked at may wait for the call */
	__u8 doubtful;   /* 1: some thread may */
	__u8 found;      /* 1: the thread of `request` does */
	__u8 strict;     /* 1: so may one that does not wait yet */
	__u32 descriptor;
};

/* The call that a future of the client's leads to; 0: none. */
static __always_inline __u64 java_leads_to(const struct runtime_java *java, __u64 future)
{
	const struct java_client *client = &java->client;

	future = java_refers(java, future, client->cancelable);
	future = java_refers(java, future, client->reference);
	return java_refers(java, future, client->referent);
}

/* Does a thread, with this object, wait for something? */
static __always_inline int java_is_waiting(const struct runtime_java *java, __u64 object,
					   __u64 thread)
{
	return user_read_narrow(object + java->blocker) || user_read(thread + java->enters) ||
	       user_read(thread + java->waits);
}

/* A request, and who works for it, by his object: has he begun the call, or what does he wait for?
 */
static __always_inline void java_waits_at(struct java_waits *waits, __u64 object)
{
	const struct runtime_java *java = waits->java;
	__u64 thread = user_read(object + java->native);

	waits->found = thread && thread == waits->begun;
	waits->signaller = java_narrow(java, java_signaller(java, object));
	waits->unsure =
	    !waits->found && (!thread || waits->strict || java_is_waiting(java, object, thread));
	waits->at = waits->signaller && thread ? user_read(thread + java->frames) : 0;
	waits->left = waits->at && !waits->found ? JAVA_WAITER_STACK / USER_CHUNK : 0;
}

static __always_inline void java_waits_next(struct java_waits *waits)
{
	const struct java_reader *reader =
	    &waits->readers->reader[waits->next++ & (JAVA_READERS - 1)];
	const struct runtime_java *java = waits->java;
	__u64 object, future;

	waits->doubtful |= waits->unsure;
	waits->unsure = 0;
	waits->request = java_reader_request(java, waits->tgid, reader);
	if (!waits->request)
		return;
	object = java_object(java, reader->thread);
	future = java_awaits(java, object);
	if (future)
		object = java_refers(java, future, java->runner);
	if (object)
		java_waits_at(waits, object);
	else
		waits->unsure = !java_is_to_run(java, future);
	if (waits->call)
		waits->unsure &= standing_may_call(request_standing(waits->request));
}

/* Is a call made on the connection of this file descriptor? */
static __always_inline int java_call_is_on(const struct runtime_java *java, __u64 call,
					   __u32 descriptor)
{
	const struct java_client *client = &java->client;
	__u64 exchange =
	    java_refers(java, java_refers(java, call, client->made), client->implemented);
	__u64 channel =
	    java_refers(java, java_refers(java, exchange, client->connection), client->channel);

	return java_class(java, exchange) == client->exchange_class && channel &&
	       java_is_channel(java, channel, descriptor);
}

/* A future of the client's, on the stack of a thread that waits for it. */
static __always_inline void java_waits_future(struct java_waits *waits, __u64 future)
{
	__u64 call = java_leads_to(waits->java, future);

	waits->left = 0;
	waits->unsure &= !call;
	if (waits->call) {
		waits->found = call == waits->call;
		return;
	}
	waits->found = java_call_is_on(waits->java, call, waits->descriptor);
	waits->call = call;
}

/*
 * As a callback of bpf_loop(): the next thread, or the next chunk of this one's stack. The future
 * that it waits for is there, and has its Signaller.
 */
static long java_waits_step(__u32 index, struct java_waits *waits)
{
	__u64 words[USER_CHUNK];

	if (waits->found)
		return 1;
	if (!waits->left) {
		if (waits->next < waits->end)
			java_waits_next(waits);
		else
			waits->request = 0;
		return !waits->request && waits->next >= waits->end;
	}
	waits->left--;
	if (!user_chunk(&waits->at, ~0ULL, words)) {
		waits->left = 0;
		return 0;
	}
	for (int i = 0; i < USER_CHUNK; i++) {
		if (!java_may_be_object(waits->java, words[i]) ||
		    java_class(waits->java, words[i]) != waits->java->client.future_class ||
		    user_read_narrow(words[i] + waits->java->client.stack) != waits->signaller)
			continue;
		java_waits_future(waits, words[i]);
		return 0;
	}
	return 0;
}

/* Readers from one place to another, as one number. */
static __always_inline __u32 java_places(__u32 from, __u32 to)
{
	return from | to << 16;
}

/* May who makes a call not be who waits for it? A function of its own for the room on the stack. */
VERIFIED_ALONE int java_client_is_strict(__u32 tgid)
{
	return rule_may_break(tgid, TASK_RULE_CLIENT);
}

/*
 * Name the request of a thread that waits for the call, itself or for another one that does, or
 * that is in send() for it (`begun`: its JavaThread; 0: not known), of the readers in these places.
 * Doubtful: some thread may wait for it in another way.
 */
VERIFIED_ALONE int java_client_waiter(__u64 call, __u64 begun, __u32 places,
				      struct named *ret_named)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	const struct runtime *runtime = runtime_lookup(tgid);
	struct java_waits waits = {.tgid = tgid, .call = call, .begun = begun};

	waits.readers = java_readers_lookup(&tgid);
	if (!ret_named || !runtime || !waits.readers)
		return 0;
	waits.java = &runtime->java;
	waits.strict = java_client_is_strict(tgid);
	waits.next = places & 0xffff;
	waits.end = places >> 16;
	bpf_loop(JAVA_WAITS_MAX, java_waits_step, &waits, 0);
	ret_named->request = waits.found ? waits.request : 0;
	ret_named->doubtful =
	    waits.doubtful || waits.unsure || waits.next < waits.end || waits.left;
	return 0;
}

/*
 * The answer to a call of the client's is read by the current thread, and the call was made for
 * this request: by now the thread that has the request should wait for just that call, if it has
 * made it. (It may have made it for who had put it into a list, or go on before it waits.)
 */
VERIFIED_ALONE int java_client_learns(__u32 tgid, __u64 id)
{
	const struct runtime *runtime = runtime_lookup(tgid);
	const struct request *r = request_lookup(id);
	struct java_waits waits = {
	    .tgid = tgid, .descriptor = (__u32)syscall_argument(bpf_get_current_task_btf())};
	const struct java_reader *reader;
	struct java_made made;

	waits.readers = java_readers_lookup(&tgid);
	if (!runtime || !runtime->java.client.exchange_class || !r || !waits.readers)
		return 0;
	waits.java = &runtime->java;
	waits.next = r->worker.tid & (JAVA_READERS - 1);
	waits.end = waits.next + 1;
	reader = &waits.readers->reader[waits.next & (JAVA_READERS - 1)];
	bpf_loop(JAVA_WAITS_MAX, java_waits_step, &waits, 0);
	made = java_made_by(waits.java, reader);
	if (!waits.found ? waits.unsure || waits.doubtful || waits.call
			 : java_is_among(&made, waits.call))
		rule_learn(tgid, TASK_RULE_CLIENT, waits.found);
	return 0;
}

/* Who has made a call, of the threads that have read requests. */
struct java_maker {
	__u64 call;    /* the MultiExchange */
	__u64 request; /* of who has made it; 0: not found */
	__u32 place;   /* of that one among the readers */
	__u32 idle;    /* requests that could begin a call now, of all that are at some thread */
	__u8 waits;    /* 1: the maker waits in a CompletableFuture */
	__u8 doubtful; /* 1: it waits for something else */
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

	if (!request)
		return 0;
	maker->idle += standing_may_call(request_standing(request));
	made = java_made_by(java, reader);
	if (!java_is_among(&made, maker->call))
		return 0;
	object = java_object(java, reader->thread);
	maker->request = request;
	maker->place = index;
	maker->waits = java_signaller(java, object) != 0;
	maker->doubtful = !maker->waits && user_read_narrow(object + java->blocker);
	return 0;
}

/* Who has made the call, since it has read its request. */
VERIFIED_ALONE int java_client_maker(__u32 tgid, struct java_maker *maker)
{
	const struct runtime *runtime = runtime_lookup(tgid);
	struct java_makers makers = {.tgid = tgid, .maker = maker};

	makers.readers = java_readers_lookup(&tgid);
	if (!maker || !runtime || !makers.readers)
		return 0;
	makers.java = &runtime->java;
	bpf_loop(JAVA_READERS, java_makers_step, &makers, 0);
	if (maker->doubtful)
		rule_learn(tgid, TASK_RULE_CLIENT, 0);
	return 0;
}

/*
 * Does the current thread send a call of the client's, and is it still at the request that it has
 * read? Then it is in send(), and what speaks for a list of calls does not count.
 */
VERIFIED_ALONE int java_client_is_own(__u32 tgid)
{
	struct worker_key key = {.tgid = tgid, .tid = (__u32)bpf_get_current_pid_tgid()};
	const struct worker *w = worker_lookup(&key);
	__u64 request = w ? java_request_of(w) : 0;

	return request && java_client_call(tgid, JAVA_CALL_SENT) &&
	       java_stack_is_at(tgid, key.tid, request);
}

/*
 * May a call of the client's that the current thread, which has a request, sends or connects for be
 * any other one's? So it is where the client does itself what others would have done.
 */
VERIFIED_ALONE int java_client_may_be_others(__u32 tgid, int sends)
{
	const struct runtime *runtime = runtime_lookup(tgid);
	__u64 call = java_client_call(tgid, sends ? JAVA_CALL_SENT : JAVA_CALL_NEXT);

	return runtime && call && !java_client_hands_over(&runtime->java, call);
}

/* Name who waits for a call or is in send() for it, or else who has made it. */
static __always_inline void java_client_names(__u32 tgid, __u64 call, __u64 begun,
					      struct named *named)
{
	struct java_maker maker = {.call = call};

	java_client_maker(tgid, &maker);
	if (maker.waits)
		java_client_waiter(call, begun, java_places(maker.place, maker.place + 1), named);
	if (!named->request)
		java_client_waiter(call, begun, java_places(0, JAVA_READERS), named);
	if (named->request)
		named->doubtful = 0;
	else
		named->doubtful |= maker.doubtful || process_may_call(tgid) > maker.idle;
	if (!named->request)
		named->request = maker.request;
}

/* Name the request for which a thread was seen to begin a call. Returns that one's JavaThread. */
VERIFIED_ALONE __u64 java_client_begun(__u32 tgid, __u64 call, struct named *ret_named)
{
	const struct runtime *runtime = runtime_lookup(tgid);
	const struct java_begun *begun = runtime ? java_begun_of(&runtime->java, tgid, call) : NULL;

	if (!begun || !ret_named)
		return 0;
	*ret_named = begun->named;
	return begun->thread;
}

/*
 * The request that a call of the client's is made for, which the current thread sends: that of who
 * is in send(), of who waits for it, or else of who has made it. Returns whether it sends one that
 * another thread has made. What is named counts only if java_is_at() says so.
 */
VERIFIED_ALONE int java_client_sends(__u32 tgid, struct named *ret_named)
{
	__u64 call = java_client_call(tgid, JAVA_CALL_OF_OTHERS), begun, request;

	if (!call || !ret_named)
		return 0;
	begun = java_client_begun(tgid, call, ret_named);
	request = ret_named->request;
	if (request && !ret_named->doubtful)
		return 1;
	ret_named->request = 0;
	java_client_names(tgid, call, begun, ret_named);
	if (!ret_named->request)
		*ret_named = (struct named){.request = request, .doubtful = 1};
	return 1;
}

#endif
