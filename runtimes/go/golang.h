/* SPDX-License-Identifier: Apache-2.0 */
/* What a Go program's file tells about its runtime and about net/http in it. */
#ifndef CTXPROP_RUNTIMES_GO_GOLANG_H
#define CTXPROP_RUNTIMES_GO_GOLANG_H

#include "runtimes/runtime.h"
#include "inspect/probe_sites.h"
#include "runtime/why.h"

/* Programs of runtimes/go, and where they are attached. */
enum golang_probe {
	GOLANG_STARTED,       /* where runtime.newproc calls runtime.runqput */
	GOLANG_CONNECTION,    /* net/http.(*persistConn).writeLoop, readLoop */
	GOLANG_ROUND_TRIP,    /* net/http.(*persistConn).roundTrip */
	GOLANG_STREAM_SERVED, /* of HTTP/2: serverConn.runHandler */
	GOLANG_STREAM_CALLED, /* ClientConn.writeHeaders */
	GOLANG_GRPC_SERVED,   /* grpc's Server.handleStream */
	GOLANG_GRPC_CALLS,    /* http2Client.NewStream */
	GOLANG_GRPC_PUTS,     /* controlBuffer.executeAndPut */
	GOLANG_GRPC_WRITES,   /* loopyWriter.headerHandler */
	GOLANG_SEND,          /* runtime.send: over a channel; this and the rest only for pools */
	GOLANG_RECEIVE,       /* runtime.recv */
	GOLANG_STORE,         /* where a message is copied to a channel's buffer */
	GOLANG_TAKE,          /* where it is cleared there */
	GOLANG_WAKES,         /* where others are woken by a closed channel, or a semaphore */
	GOLANG_CLOSES,        /* runtime.closechan */
	GOLANG_GROUP,         /* sync.(*WaitGroup).Add */
	GOLANG_RUNS,          /* runtime.execute; only where goroutines are published */
	GOLANG_PROBES
};

struct golang {
	struct runtime runtime;   /* kind RUNTIME_GO; addresses as in the file */
	unsigned int minor;       /* of Go's version: 1.<minor> */
	__u64 entry;              /* address at which the program begins, as in the file */
	struct probe_sites sites; /* enum golang_probe; all in the program itself */
};

/*
 * Look at a program. 0; -ENOENT: it is not written in Go; -ENOTSUP: it is, but its runtime
 * cannot be followed (`ret_why`: also for damage); or -errno.
 */
int golang_inspect(struct elf_image *image, struct golang *ret_golang, enum why *ret_why);

/*
 * Of any program in Go, also one whose goroutines cannot be followed: the version that built it,
 * and where a thread keeps its goroutine, from the thread pointer. 0; -ENOENT: it is not written in
 * Go; -ENOTSUP: it cannot be told.
 */
int golang_goroutine(struct elf_image *image, unsigned int *ret_minor, __s32 *ret_g_offset);

/* What was found in a file is so far from where it is in a process. */
void golang_relocate(struct runtime_go *go, __u64 bias);

#endif
