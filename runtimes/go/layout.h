/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Go: where its goroutines are, and what the probes keep of them. */
#ifndef CTXPROP_RUNTIMES_GO_LAYOUT_H
#define CTXPROP_RUNTIMES_GO_LAYOUT_H

#include "runtimes/common.h"

/* Functions that net/http starts to watch a connection that another goroutine serves. */
#define RUNTIME_WATCHERS 4

/* Functions that the clients of HTTP/2 start for a request: at most so many are told apart. */
#define RUNTIME_STREAMS 8

#define RUNTIME_WAITS 4  /* functions in which goroutines wait for others */
#define RUNTIME_CALLS 12 /* in which they do for a call of their own, or to write a response */

/* A function, so far from where the program's functions begin; 0: there is none. */
struct runtime_code {
	__u32 start, end;
};

/* Where goroutines of net/http begin, and what others wait in. Addresses; 0: none. */
struct runtime_go {
	__u64 watchers[RUNTIME_WATCHERS]; /* they watch a connection while its request is served */
	__u64 dials; /* connects for a call, and hands the connection to whoever waits then */
	__u64 text;  /* where the program's functions begin */
	__u64 streams[RUNTIME_STREAMS]; /* they write a request of HTTP/2 for who starts them */
	struct runtime_code waits[RUNTIME_WAITS];
	struct runtime_code calls[RUNTIME_CALLS];
	__s32 g_offset;     /* of `g`, from the thread pointer */
	__u32 curg_offset;  /* of `curg` in struct m */
	__u32 recvx_offset; /* of `recvx` in struct hchan */
	__u32 frame_offset; /* of `sched.bp` in struct g */
};

/* Where things stand in Go's structs, in all versions that are supported. */
#define GO_G_OFFSET          (-8) /* of g, from the thread pointer, in nearly all programs */
#define GO_M_G0              0    /* m.g0 */
#define GO_G_M               48   /* g.m */
#define GO_G_SCHED_PC        64   /* g.sched.pc: in a new goroutine, what it begins with */
#define GO_HCHAN_DATAQSIZ    8    /* hchan.dataqsiz: room for messages that nobody waits for */
#define GO_HCHAN_BUF         16   /* hchan.buf: these messages */
#define GO_HCHAN_ELEMSIZE    24   /* hchan.elemsize, 2 bytes: of one */
#define GO_TYPE_SIZE         0    /* _type.Size_ */
#define GO_SUDOG_G           0    /* sudog.g: the one that waits */
#define GO_PERSIST_CONN_CONN 88   /* persistConn.conn, of which the pointer */
#define GO_TCP_CONN_FD       0    /* TCPConn.fd, a pointer */
#define GO_NET_FD_SYSFD      16   /* netFD.pfd.Sysfd, 4 bytes */

/* The same of HTTP/2, in net/http and golang.org/x/net/http2. */
#define GO_WRITER_STATE           0  /* responseWriter.rws */
#define GO_STATE_STREAM           0  /* responseWriterState.stream */
#define GO_STATE_CONN             16 /* responseWriterState.conn: its serverConn */
#define GO_STREAM_CONN            0  /* stream.sc: the same */
#define GO_STREAM_ID              8  /* stream.id, 4 bytes */
#define GO_SERVER_CONN            24 /* serverConn.conn, of which the pointer */
#define GO_CLIENT_CONN            16 /* ClientConn.tconn, of which the pointer */
#define GO_GRPC_STREAM_ID         0  /* grpc's Stream.id, 4 bytes */
#define GO_GRPC_STREAM_TRANSPORT  16 /* Stream.st, of which the pointer */
#define GO_GRPC_HEAD_STREAM       0  /* headerFrame.streamID, 4 bytes */
#define GO_GRPC_LOOPY_SIDE        0  /* loopyWriter.side */
#define GO_GRPC_CLIENT            0  /* clientSide */
#define GO_GRPC_LOOPY_FRAMER      40 /* loopyWriter.framer */
#define GO_GRPC_SERVER_CONN       40 /* http2Server.conn, of which the pointer */
#define GO_GRPC_SERVER_CONN_NEWER 24 /* the same in later versions */
#define GO_GRPC_WRITER_CONN       48 /* bufWriter.conn, of which the pointer */
#define GO_GRPC_WRITER_CONN_NEWER 56
#define GO_GRPC_FRAMER_WRITER     0 /* framer.writer: its bufWriter */
#define GO_BUFFERED_CONN          8 /* h2c's bufConn.Conn, of which the pointer */

/* What a goroutine has done about what it was handed (enum goroutine_flags). */
#define GOROUTINE_DID (GOROUTINE_SENT | GOROUTINE_STARTED | GOROUTINE_TOLD | GOROUTINE_ENDED)

/*
 * Does a goroutine do what it is handed one by one? It does where it has told the goroutine of the
 * request that it was handed, which waited for some. Each time counts, up to so often:
 */
#define GOROUTINE_ONE_BY_ONE 16
/*
 * Not where it has taken the next message before it did anything, or has told one of another
 * request: then what it is handed is not believed until it was seen to so many times, once for each
 * time that it was not, up to so many.
 */
#define GOROUTINE_COLLECTS     16
#define GOROUTINE_COLLECTS_MAX 64

/*
 * Smaller messages (of nothing, of a truth value, of a number) are signals, not work that is
 * handed over: they come from whoever it may be.
 */
#define MESSAGE_SIZE_MIN 8

/* Map `round_trips`, by the client's connection: who has handed it a request, and for whom. */
struct round_trip {
	__u64 goroutine; /* 0: the request is written */
	struct named named;
	__u64 writer; /* a goroutine of the connection; 0: none is known yet */
};

/*
 * Map `go_sockets`, by the address of a socket: the client's connection that it belongs to. Only
 * for those whose writer began before the process was looked at, until it has written once.
 */
struct go_socket {
	__u32 tgid;
	__u32 reserved; /* 0 */
	__u64 connection;
};

#endif
