/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * What the packet programs tell user space of each request, on either side: one record when its
 * head has passed, one when its response has. Both have the id of its span; a record is shorter
 * where its head is. A probe of its own (record/connections.bpf.c) tells of each TCP connection
 * when it ends. Ids are bytes in the order of the wire, times CLOCK_BOOTTIME in ns.
 *
 * Written only while somebody reads (struct recording); what finds no room in the ring is counted.
 */
#ifndef CTXPROP_RECORDS_H
#define CTXPROP_RECORDS_H

#include <linux/bpf.h>
#include <linux/types.h>

/* Bytes of the ring; a power of two. */
#define RECORDS_SIZE (4 << 20)
/* Bytes of a head that are told, at most. */
#define RECORD_HEAD_MAX 1024

/*
 * Index 0 of the array `recording`: does anybody read records, and what of them? Written by who
 * does; the packet programs raise `shed` as the ring fills up, who reads lowers it again.
 */
struct recording {
	__u64 until_ns; /* CLOCK_MONOTONIC: for so long; who reads puts it off again and again */
	__u64 shed;     /* of traces whose last 56 bits are below this number nothing is told */
	__u64 boot_ns;  /* CLOCK_BOOTTIME less CLOCK_MONOTONIC */
	__u32 head_max; /* bytes of a head that are told, up to RECORD_HEAD_MAX */
	__u32 reserved;
};

/* The bits of a trace id by which others decide, too, whether it is sampled (policy.h). */
#define RECORDING_SHED_ALL (1ULL << 56)
/* Up to so many bytes in the ring nothing is shed; from so many on, what begins is. */
#define RECORDS_CALM ((__u64)RECORDS_SIZE / 2)
#define RECORDS_FULL ((__u64)RECORDS_SIZE / 8 * 7)
/* From so many on who reads is called, each time that so many more are. */
#define RECORDS_CALL      (RECORDS_CALM / 4 * 3)
#define RECORDS_CALL_STEP (RECORDS_CALM / 16)
/* Bytes of the ring that a record of `size` bytes takes. */
#define RECORDS_ROOM(size) ((BPF_RINGBUF_HDR_SZ + (__u64)(size) + 7) / 8 * 8)

/*
 * What `shed` has to be at least when `used` bytes of the ring are taken: the same decision for
 * all requests of a trace, so that those traces that are told of are so as a whole. The rest of the
 * ring is for the ends of what has begun.
 */
static inline __u64 recording_shed_at(__u64 used)
{
	if (used <= RECORDS_CALM)
		return 0;
	if (used >= RECORDS_FULL)
		return RECORDING_SHED_ALL;
	return (used - RECORDS_CALM) * (RECORDING_SHED_ALL / (RECORDS_FULL - RECORDS_CALM));
}

/* Is who reads to be called for a record of `size` bytes behind `used` ones? */
static inline int recording_calls(__u64 used, __u64 size)
{
	__u64 now = used + RECORDS_ROOM(size);

	return now >= RECORDS_CALL && used / RECORDS_CALL_STEP != now / RECORDS_CALL_STEP;
}

/* Is a trace told of? `bits`: the last eight bytes of its id as a number. */
static inline int recording_keeps(__u64 shed, __u64 bits)
{
	return (bits & (RECORDING_SHED_ALL - 1)) >= shed;
}

enum record_kind {
	RECORD_SERVED,      /* a request has come in */
	RECORD_SERVED_END,  /* its response has been sent, or never will be */
	RECORD_CALLED,      /* a request goes out */
	RECORD_CALLED_END,  /* its answer has come, or never will */
	RECORD_SERVED_PART, /* a piece of a head that goes on in another packet */
	RECORD_CALLED_PART,
	RECORD_CONNECTION, /* a TCP connection has ended, whatever it carried */
	RECORD_KINDS
};

enum record_flags {
	RECORD_ROOT = 1 << 0,      /* its trace begins here */
	RECORD_NAMED = 1 << 1,     /* called: it leaves with these ids, which ctxprop has written */
	RECORD_FORWARDED = 1 << 2, /* called: by no socket of this network namespace */
	RECORD_CUT = 1 << 3, /* the head began in an earlier packet: its first bytes are missing */
	RECORD_REUSED = 1 << 4, /* the connection has carried a request before */
	RECORD_SHORT = 1 << 5,  /* the head goes on: no more of it was asked for */
};

/* Why there is no more to come. */
enum record_outcome {
	RECORD_ANSWERED, /* the response is complete */
	RECORD_CLOSED,   /* the connection ended, or could not be read any further, before that */
	RECORD_RESET,    /* by a RST of the peer */
	RECORD_GIVEN_UP, /* called: this side reads no answer any more */
	RECORD_CLIENT_CLOSED, /* served: the client had closed its side before the response began,
				 or ended; it may have been sent all the same */
	RECORD_OUTCOMES
};

/* A process as it was when it sent something, for it may be gone when that is read. */
struct record_process {
	__u64 cgroup;  /* id (inode) of its cgroup, version 2; 0: nothing is known here */
	__u8 comm[16]; /* its name, which is no text (TASK_COMM_LEN) */
};

/*
 * RECORD_SERVED and RECORD_CALLED; of the parts of a head only the connection, `head_start` and the
 * bytes hold.
 */
struct record_begin {
	__u8 kind;  /* enum record_kind */
	__u8 flags; /* enum record_flags */
	__u8 trace_flags;
	__u8 evidence; /* called: enum evidence and enum veto of its cause */
	__u8 veto;
	__u8 reason;      /* called: enum ctxprop_reason: what became of its header */
	__u16 head_size;  /* bytes of `head` */
	__u32 netns;      /* as in struct flow_key */
	__u32 head_start; /* number of the head's first byte, as its sender counts */
	__u32 tgid;       /* called: who sends, in the initial pid namespace; 0: not known */
	__u32 tid;
	__u32 position; /* number of the head's first byte on the wire: the same on both sides */
	__be16 local_port;
	__be16 remote_port;
	__u64 time_ns; /* of the packet in which the head ends */
	__u64 cookie;  /* called: of the socket; 0: not known */
	__u64 span_id;
	__u8 trace_id[16] __attribute__((aligned(8)));
	__u8 parent_id[8]; /* zero: none */
	__u8 local[16];    /* as in struct flow_key */
	__u8 remote[16];
	struct record_process process; /* called: who sends */
	__u32 added; /* called: bytes that are put into it on its way: the header */
	__u32 reserved;
	__u8 head[RECORD_HEAD_MAX]; /* as the program wrote or will read it, and maybe less of it */
};

/* RECORD_SERVED_END and RECORD_CALLED_END. */
struct record_end {
	__u8 kind;    /* enum record_kind */
	__u8 outcome; /* enum record_outcome */
	__u16 status; /* of the response; 0: there is none */
	__u32 tgid;   /* served: the process that took it up, and its thread; 0: not known */
	__u32 tid;
	__u32 request_size;  /* bytes of head and body, modulo 2^32; 0: not known */
	__u32 response_size; /* the same */
	__u32 reserved;
	__u64 first_ns; /* the response began; 0: it did not */
	__u64 time_ns;
	__u64 cookie;   /* served: of the socket; 0: not known */
	__u64 taken_ns; /* served: its first byte was read; 0: not known */
	__u64 span_id;
	struct record_process process; /* served: who responds */
};

/* Who has opened a connection. */
enum connection_side {
	CONNECTION_SIDE_UNKNOWN, /* it is older than the reader */
	CONNECTION_CLIENT,       /* this side */
	CONNECTION_SERVER,       /* the peer */
};

/* How a connection ended. */
enum connection_end {
	CONNECTION_CLOSED,      /* both sides have said FIN, or this one did and waits no longer */
	CONNECTION_RESET,       /* the peer has sent a RST */
	CONNECTION_ABORTED,     /* this side has: closed with data unread, or without lingering */
	CONNECTION_REFUSED,     /* the peer has answered the SYN with a RST */
	CONNECTION_TIMED_OUT,   /* no answer to SYN, data or keepalive */
	CONNECTION_UNREACHABLE, /* by ICMP */
	CONNECTION_ABANDONED,   /* its program closed it before it was established */
	CONNECTION_FAILED,      /* for another reason */
	CONNECTION_ENDS
};

/*
 * RECORD_CONNECTION: one end of a TCP connection, told when its socket is done with it (at the end
 * of which TIME_WAIT begins). Of one that is older than the reader nothing is known of its
 * beginning: the side, `opened_ns`, `established_ns` and the first numbers are 0.
 */
struct record_connection {
	__u8 kind; /* enum record_kind */
	__u8 side; /* enum connection_side */
	__u8 end;  /* enum connection_end */
	__u8 reserved;
	__u32 netns;         /* as in struct flow_key */
	__u32 tgid;          /* client: who connected; else who closed it; 0: not known */
	__u32 tid;           /* its thread */
	__u32 first_out;     /* wire number of the first byte that this side sends */
	__u32 first_in;      /* the same of the peer */
	__u32 retransmitted; /* segments */
	__u32 rtt_us;        /* round trip, smoothed; 0: never measured */
	__be16 local_port;
	__be16 remote_port;
	__u32 reserved2;
	__u64 cookie;         /* of the socket */
	__u64 cgroup;         /* id (inode) of the socket's cgroup, version 2; 0: not known */
	__u64 opened_ns;      /* client: its SYN; server: when it was established */
	__u64 established_ns; /* 0: never */
	__u64 closed_ns;
	__u64 sent;     /* bytes of payload, each once, as the program wrote them */
	__u64 received; /* bytes of payload in order, as they were on the wire */
	__u8 local[16]; /* as in struct flow_key */
	__u8 remote[16];
};
_Static_assert(sizeof(struct record_connection) == 128, "record_connection is shared");

#endif
