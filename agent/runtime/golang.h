/* SPDX-License-Identifier: Apache-2.0 */
/* What a Go program's file tells about its runtime and about net/http in it. */
#ifndef CTXPROP_GOLANG_H
#define CTXPROP_GOLANG_H

#include "context/runtime.h"
#include "runtime/elf_image.h"

/* Where programs of bpf/probes/goroutine.bpf.c are attached. */
enum golang_probe {
	GOLANG_STARTED,    /* where runtime.newproc calls runtime.runqput */
	GOLANG_WRITES,     /* net/http.(*persistConn).writeLoop */
	GOLANG_READS,      /* net/http.(*persistConn).readLoop */
	GOLANG_ROUND_TRIP, /* net/http.(*persistConn).roundTrip */
	GOLANG_SEND,       /* runtime.send: over a channel */
	GOLANG_RECEIVE,    /* runtime.recv */
	GOLANG_PROBES
};

struct golang {
	struct runtime runtime;      /* kind RUNTIME_GO; addresses as in the file */
	unsigned int minor;          /* of Go's version: 1.<minor> */
	__u64 entry;                 /* address at which the program begins, as in the file */
	__u64 offset[GOLANG_PROBES]; /* in the file; 0: the program has no such function */
};

/*
 * Look at a program. 0; -ENOENT: it is not written in Go; -ENOTSUP: it is, but its runtime
 * cannot be followed (`ret_why`: constant text, also for damage); or -errno.
 */
int golang_inspect(struct elf_image *image, struct golang *ret_golang, const char **ret_why);

#endif
