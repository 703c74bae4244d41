/* SPDX-License-Identifier: Apache-2.0 */
/* What a process runs, by the file that it was started from and what it has loaded. */
#ifndef CTXPROP_CLASSIFY_H
#define CTXPROP_CLASSIFY_H

#include "inspect/subject.h"
#include "runtime/golang.h"
#include "runtime/probe_sites.h"
#include "runtime/why.h"

/* It has no pointers: a sandbox finds it out, and sends it. */
struct classified {
	struct runtime runtime;   /* for map `runtimes` */
	struct probe_sites sites; /* for the probes of its runtime */
	struct golang golang;     /* RUNTIME_GO: as its file has it, for classify_known */
	__u32 major, minor;       /* Go, Python, Ruby: of the version */
	__u32 language;           /* enum language */
	__u32 why; /* enum why: it cannot be followed, or not beyond threads; or WHY_NONE */
};

/* What is known of a Go program in this file from an earlier look; NULL: nothing. */
typedef const struct golang *(*classify_known)(const struct stat *file, void *data);

/* subject_open() for a process that is to be classified. */
int classify_open(__u32 tgid, struct subject *ret_subject);

/* 0, or -errno: its files cannot be read. For a sandbox: the files are parsed. */
int classify(const struct subject *subject, classify_known known, void *data,
	     struct classified *ret_classified);

/*
 * What came from a sandbox: is everything in its range, and each place for a probe in code that the
 * process has mapped? 0, or -EBADMSG.
 */
int classify_check(const struct subject *subject, const struct classified *classified);

#endif
