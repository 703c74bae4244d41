/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls of java.net.http's client that a thread has on its stack: the one that it sends, and one
 * that it begins. Any thread of the client's sends what send() has begun in another one, which then
 * tells the client's selector: so a thread that wakes it and has an exchange on its stack that is
 * about to be sent, of a call that it has made itself, is in send(), and will be until the answer
 * is there.
 */
#ifndef CTXPROP_RUNTIMES_JAVA_CALL_BPF_H
#define CTXPROP_RUNTIMES_JAVA_CALL_BPF_H

#include "runtimes/java/frame.bpf.h"

#define JAVA_CLIENT_STACK 1024 /* words of a stack that are looked through */
#define JAVA_STATE_SENDS  2    /* Http1Exchange.State.BODY: from the head on, to the last byte */

/* Which call is asked for. */
enum java_call {
	JAVA_CALL_SENT,      /* that the current thread sends */
	JAVA_CALL_OF_OTHERS, /* the same, if another thread has made it */
	JAVA_CALL_NEXT,      /* about to be sent */
	JAVA_CALL_BEGUN,     /* the same, if it has made it itself, in send() */
};

/* A search for an exchange on the stack of the current thread. */
struct java_sends {
	const struct runtime_java *java;
	__u64 at, base;
	__u64 exchange; /* address of the Http1Exchange; 0: not found */
	__u32 descriptor;
	__u32 which; /* enum java_call */
};

/* enum Http1Exchange.State of an exchange; -1: it has none. */
static __always_inline __s64 java_exchange_state(const struct runtime_java *java, __u64 exchange)
{
	__u64 state = java_refers(java, exchange, java->client.state);

	return state ? user_read_narrow(state + java->client.ordinal) : -1;
}

/* Is a request of this exchange being sent, on the connection of the descriptor, which is open? */
static __always_inline int java_is_sent_on(const struct runtime_java *java, __u64 exchange,
					   __u32 descriptor)
{
	const struct java_client *client = &java->client;
	__u64 channel =
	    java_refers(java, java_refers(java, exchange, client->connection), client->channel);

	return channel && java_is_channel(java, channel, descriptor) &&
	       !(user_read_narrow(channel + client->closed) & 0xff) &&
	       java_exchange_state(java, exchange) == JAVA_STATE_SENDS;
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

/* Is this object of an exchange that is searched for? */
static __always_inline int java_sends_finds(struct java_sends *sends, __u64 object)
{
	__u64 exchange = java_exchange_of(sends->java, object);
	__s64 state;

	if (!exchange)
		return 0;
	sends->exchange = exchange;
	if (sends->which < JAVA_CALL_NEXT)
		return java_is_sent_on(sends->java, exchange, sends->descriptor);
	state = java_exchange_state(sends->java, exchange);
	return state >= 0 && state < JAVA_STATE_SENDS;
}

/* As a callback of bpf_loop(). */
static long java_sends_chunk(__u32 index, struct java_sends *sends)
{
	__u64 words[USER_CHUNK];

	if (!user_chunk(&sends->at, sends->base, words))
		return 1;
	for (int i = 0; i < USER_CHUNK; i++)
		if (java_may_be_object(sends->java, words[i]) && java_sends_finds(sends, words[i]))
			return 1;
	sends->exchange = 0;
	return 0;
}

/* Has a thread made the call, among what it has made last? */
static __always_inline int java_has_made(const struct runtime_java *java, __u64 thread, __u64 call)
{
	struct java_made made = {.from = user_read(thread + java->buffer_start),
				 .to = user_read(thread + java->buffer_top)};

	return thread && java_is_among(&made, call);
}

/* Is an object of this class, which is loaded? */
static __always_inline int java_is_a(const struct runtime_java *java, __u64 object, __u32 class)
{
	return class && java_class(java, object) == class;
}

/*
 * Does the client of a call have others do what it gives to its executor? One that does it itself
 * (`Runnable::run`) is in sendAsync() where with others it could only be in send().
 */
static __always_inline int java_client_hands_over(const struct runtime_java *java, __u64 call)
{
	const struct java_client *client = &java->client;
	__u64 executor =
	    java_refers(java, java_refers(java, call, client->executor), client->delegate);

	if (java_is_a(java, executor, client->pool_class))
		return java_is_a(java, java_refers(java, executor, client->handler),
				 client->abort_class);
	return java_is_a(java, executor, client->forks_class) ||
	       java_is_a(java, executor, client->each_class);
}

/* The MultiExchange of a call that the current thread has on its stack; 0: of none. */
VERIFIED_ALONE __u64 java_client_call(__u32 tgid, enum java_call which)
{
	const struct runtime *runtime = runtime_lookup(tgid);
	struct task_struct *task = bpf_get_current_task_btf();
	struct java_sends sends = {.which = which};
	__u64 call;
	int own;

	if (!runtime || !runtime->java.client.exchange_class)
		return 0;
	sends.java = &runtime->java;
	sends.at = syscall_stack(task) & ~(JAVA_WORD - 1);
	sends.base = java_stack_base(sends.java);
	sends.descriptor = (__u32)syscall_argument(task);
	if (bpf_loop(JAVA_CLIENT_STACK / USER_CHUNK, java_sends_chunk, &sends, 0) < 0)
		return 0;
	sends.exchange = java_refers(sends.java, sends.exchange, sends.java->client.owner);
	call = java_refers(sends.java, sends.exchange, sends.java->client.multi);
	if (which == JAVA_CALL_SENT || which == JAVA_CALL_NEXT)
		return call;
	own = java_has_made(sends.java, java_thread_of(sends.java, user_thread_pointer()), call);
	if (which != JAVA_CALL_BEGUN)
		return own ? 0 : call;
	return own && java_client_hands_over(sends.java, call) ? call : 0;
}

#endif
