// SPDX-License-Identifier: GPL-2.0-only
/*
 * The events of TCP sockets. All hooks run in the thread that makes the system call, under the
 * lock of the socket, also for io_uring, sendfile and splice.
 */
#define COMPAT_SECOND_OBJECT /* the one of the probes that takes bpf_rdonly_cast() */
#include <linux/bpf.h>
#include <linux/in.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "engine/end.bpf.h"
#include "edits.h"
#include "probes/peer.bpf.h"
#include "probes/probe.bpf.h"
#include "probes/record.bpf.h"
#include "probes/step.bpf.h"

/* States as the kernel numbers them. */
enum {
	STATE_SYN_SENT = 2,
	STATE_FIN_WAIT1 = 4,
	STATE_CLOSE = 7,
	STATE_LAST_ACK = 9,
	STATE_LISTEN = 10,
};

static __always_inline struct socket *socket_lookup(struct sock *sk)
{
	return bpf_sk_storage_get(&sockets, sk, NULL, 0);
}

/* Of a TCP socket; since 6.2 that costs no call. */
static __always_inline const struct tcp_sock *tcp_of(struct sock *sk)
{
	if (bpf_core_type_exists(struct bpf_list_head___since_6_2))
		return bpf_rdonly_cast(sk, bpf_core_type_id_kernel(struct tcp_sock));
	return bpf_skc_to_tcp_sock(sk);
}

static __always_inline __u32 copied_seq(struct sock *sk)
{
	const struct tcp_sock *tcp = tcp_of(sk);

	return tcp ? tcp->copied_seq : 0;
}

static __always_inline __u32 write_seq(struct sock *sk)
{
	const struct tcp_sock *tcp = tcp_of(sk);

	return tcp ? tcp->write_seq : 0;
}

/*
 * Was all that has arrived read? More than there are slots for is what a packet has left in the
 * moment when its own socket was closed, and this one got the inbox.
 */
static __always_inline int inbox_is_empty(struct inbox *box)
{
	__u32 end = *(volatile __u32 *)&box->end;

	if (end - box->first > SOCKET_ARRIVALS)
		box->first = end;
	return box->first == end;
}

static __always_inline const struct arrival *inbox_oldest(const struct inbox *box)
{
	return &box->arrival[box->first & (SOCKET_ARRIVALS - 1)];
}

/* Was it meant for this socket? If not, it came like that. */
static __always_inline int arrival_is_ours(const struct arrival *arrival, const struct socket *s)
{
	return arrival->inbox == (__u32)s->inbox;
}

VERIFIED_ALONE int end_request(__u64 request)
{
	context_request_ended(request);
	return 0;
}

/* A thread reads the first byte of a request. */
VERIFIED_ALONE int take_arrival(struct socket *s, __u64 request, const struct actor *a)
{
	if (!s || !a)
		return 0;
	if (s->flags & SOCKET_OLDER)
		step_older(s, a);
	if (s->flags & SOCKET_PEER) { /* it is HTTP after all */
		end_request(s->serving);
		s->flags &= ~SOCKET_PEER;
	}
	s->serving = request;
	if (hook_responder_tells(a))
		s->flags |= SOCKET_TASKS;
	s->flags &= ~SOCKET_BLOCKS;
	if (actor_waits(a))
		s->flags |= SOCKET_BLOCKS;
	record_begin(&s->record);
	step_take(request, a);
	s->taken++;
	return 0;
}

/* Requests of which the program has now read the first byte. Returns how many. */
static __always_inline int take_arrivals(struct socket *s, struct inbox *box, const struct actor *a,
					 __u32 copied)
{
	__u32 before = s->taken;

	for (int i = 0; i < SOCKET_ARRIVALS; i++) {
		const struct arrival *next = inbox_oldest(box);

		if (inbox_is_empty(box))
			break;
		if (arrival_is_ours(next, s)) {
			if (!seq_before(next->seq, copied))
				break;
			take_arrival(s, next->request, a);
			/* Not there: that would be one call more of all that are nested. */
			if (hook_objects_tell(a))
				step_object(next->request, a);
		}
		box->first++;
	}
	return s->taken - before;
}

/* Bytes of requests are read. Returns how many requests begin with them. */
static __always_inline int taking(struct sock *sk, struct socket *s, struct inbox *box,
				  const struct actor *a)
{
	__u64 before = s->serving;
	int taken = take_arrivals(s, box, a, copied_seq(sk));

	if (taken)
		hook_requests_read(a, s, taken == 1 && !request_lookup(before));
	return taken;
}

/* Bytes of a connection that serves no HTTP, or not yet. */
static __always_inline struct socket *peer_read(const struct task_struct *task, struct sock *sk,
						struct socket *s, struct actor *a)
{
	__u64 request;

	if (!peer_left(sk, &request))
		return s;
	s = bpf_sk_storage_get(&sockets, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	if (!s)
		return NULL;
	s->flags |= SOCKET_SERVER | SOCKET_PEER;
	worker_reading(a, task, sk);
	step_peer_take(s, request, a);
	return s;
}

/* Who reads from a socket is put down; what was noted of another process is forgotten. */
static __always_inline void record_reader(struct socket *s, const struct task_struct *task)
{
	if (s->record.reader.tgid != (__u32)task->tgid)
		s->plain = 0;
	record_thread(&s->record.reader, task);
}

/*
 * Who reads requests from a socket. Where threads do all the work that is so for good: it is noted,
 * and need not be looked up again until a program comes or goes.
 */
static __always_inline void reading(struct actor *a, const struct task_struct *task,
				    const struct sock *sk, struct socket *s)
{
	if (s->plain == newcomers_count() + 1) {
		worker_reading_plain(a, task, sk);
		return;
	}
	worker_reading(a, task, sk);
	s->plain = a->runtime == RUNTIME_THREADS ? newcomers_count() + 1 : 0;
}

/* Objects have told something of a call whose answer is read now: do they still? */
static __always_inline void answering_natively(struct sock *sk, struct socket *s,
					       const struct task_struct *task)
{
	struct process_address socket = {.tgid = task->tgid, .address = (__u64)sk};

	native_answers(s, &socket);
}

/* The answer to a call begins. (Which is read by another thread where that is the rule.) */
static __always_inline void answering(struct socket *s)
{
	const struct call *c = socket_last_call(s);

	if (!c || !c->outstanding || c->evidence != EVIDENCE_OBJECT)
		return;
	if (s->record.reader.tid == s->record.writer.tid)
		step_learn(c->request);
	else
		step_learn_client(c->request);
}

/*
 * Called for each packet that is copied to the program, after copied_seq has moved; a look with
 * MSG_PEEK does not move it.
 */
SEC("tp_btf/tcp_rcv_space_adjust")
int BPF_PROG(probe_recv, struct sock *sk)
{
	const struct task_struct *task = bpf_get_current_task_btf();
	struct socket *s = socket_lookup(sk);
	struct inbox *box;
	struct worker *w;
	struct actor a;

	if (!probe_is_active())
		return 0;
	if (!s || (s->flags & SOCKET_PEER))
		s = peer_read(task, sk, s, &a);
	if (!s)
		return 0;
	record_reader(s, task);
	if (s->flags & SOCKET_CLIENT) {
		if (s->client_only &&
		    socket_is_client_only(s, &s->record.reader, newcomers_count())) {
			engine_answer_client_only(s);
			return 0;
		}
		w = worker_reading_on(&a, task, sk);
		answering(s);
		if (s->told)
			answering_natively(sk, s, task);
		if (s->flags & SOCKET_SHARED)
			step_answer_shared(s, &a, w);
		else
			step_answer(s, &a, w);
		if (worker_leaves_for_later(w))
			later_reads(w);
		return 0;
	}
	box = socket_inbox(s);
	if (!box || inbox_is_empty(box)) {
		w = worker_reading_on(&a, task, sk);
		engine_read(s, &a, w);
		if (!w)
			step_show();
		if (worker_leaves_for_later(w))
			later_reads(w);
	} else {
		reading(&a, task, sk, s);
		if (!taking(sk, s, box, &a))
			engine_read(s, &a, actor_thread(&a));
		hook_read_ends(&a, s);
		if (a.kind == ACTOR_RUNTIME)
			step_show();
	}
	return 0;
}

/* A number for the peer's address and port, not 0. */
static __always_inline __u32 peer_number(const struct sock *sk)
{
	const struct sock_common *c = &sk->__sk_common;
	__u64 address[2] = {c->skc_daddr};

	if (c->skc_family == FAMILY_IPV6)
		bpf_probe_read_kernel(&address, sizeof(address), &c->skc_v6_daddr);
	return call_limit_peer_number(address, c->skc_dport);
}

/*
 * Bytes that begin a call are about to be sent. (Not inlined: what a response begins with needs
 * room on the stack, too.)
 */
static __noinline void calling(struct task_struct *task, struct sock *sk, struct socket *s)
{
	__u32 newcomers = newcomers_count();
	int reused = s->calls_end != 0;
	struct actor a;

	if (socket_is_client_only(s, &s->record.writer, newcomers) &&
	    s->client_only_path == (__u32)syscall_stack(task)) {
		engine_call_again(s, write_seq(sk));
		return;
	}
	if (worker_calling(&a, sk, s) && reused)
		socket_becomes_client_only(s, &a, newcomers);
	else
		s->client_only = 0;
	step_call(s, &a, write_seq(sk), bpf_ntohs(sk->__sk_common.skc_dport));
	if (hook_call_waits_for_turn(&a))
		step_call_limit(s, &a, peer_number(sk));
	hook_call_decided(&a, s);
	if (!(s->flags & SOCKET_SHARED))
		peer_call(sk, s);
}

/*
 * Bytes of a response are sent, where who does it tells something, or nobody frames them. (All
 * others are seen when they leave as packets, mostly before the call returns, and have ended then
 * as a rule.)
 */
static __always_inline void responding(struct sock *sk, struct socket *s)
{
	struct responding now = {.request = s->serving, .socket = (__u64)sk};

	if ((s->flags & SOCKET_TASKS) && s->responding != s->serving)
		step_responds(&now);
	engine_respond(s);
}

/* Bytes are about to be sent. */
static __always_inline void sending(struct sock *sk, struct socket *s)
{
	struct task_struct *task = bpf_get_current_task_btf();

	record_thread(&s->record.writer, task);
	if (!(s->flags & SOCKET_CLIENT)) {
		if (s->flags & (SOCKET_TASKS | SOCKET_PEER))
			responding(sk, s);
		if (s->flags & SOCKET_LATER)
			later_responds(s->serving);
		if (s->flags & SOCKET_BLOCKS && record_is_left(&s->record))
			step_respond_for(s);
		return;
	}
	if (!socket_is_quiet(s))
		step_send_more(s);
	if (socket_is_quiet(s))
		calling(task, sk, s);
}

/* Since Linux 6.16; once for each packet that is filled. */
SEC("tp_btf/tcp_sendmsg_locked")
int BPF_PROG(probe_send_tp, struct sock *sk)
{
	struct socket *s = socket_lookup(sk);

	if (s && probe_is_active())
		sending(sk, s);
	return 0;
}

SEC("fentry/tcp_sendmsg_locked")
int BPF_PROG(probe_send_fentry, struct sock *sk)
{
	struct socket *s = socket_lookup(sk);

	if (s && probe_is_active())
		sending(sk, s);
	return 0;
}

static __always_inline void connecting(struct sock *sk)
{
	struct socket *s = bpf_sk_storage_get(&sockets, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	const struct task_struct *task = bpf_get_current_task_btf();
	struct actor a;

	if (!s)
		return;
	record_begin(&s->record);
	record_thread(&s->record.writer, task);
	worker_of(&a, task);
	if (hook_connect_known(&a.key, s))
		return;
	worker_connecting(&a);
	hook_connect_begins(&a, sk);
	step_connect(s, &a);
}

/* Whatever was under way on the connection is over. */
static __always_inline void closing(struct socket *s)
{
	struct inbox *box;

	if (s->flags & SOCKET_CLIENT) {
		step_close(s);
		return;
	}
	end_request(s->serving);
	box = socket_inbox(s);
	for (int i = 0; box && i < SOCKET_ARRIVALS; i++) {
		const struct arrival *next = inbox_oldest(box);

		if (inbox_is_empty(box))
			break;
		if (arrival_is_ours(next, s))
			end_request(next->request);
		box->first++;
	}
	inbox_free(s->inbox);
}

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(probe_state, struct sock *sk, int from, int to)
{
	struct socket *s;

	if (sk->sk_protocol != IPPROTO_TCP || !probe_is_active())
		return 0;
	if (to == STATE_SYN_SENT) {
		connecting(sk);
	} else if (to == STATE_LISTEN) {
		runtime_listens(bpf_get_current_pid_tgid() >> 32); /* a server: before it serves */
	} else if (to == STATE_FIN_WAIT1 || to == STATE_LAST_ACK || to == STATE_CLOSE) {
		s = socket_lookup(sk);
		if (s)
			closing(s);
	}
	return 0;
}
