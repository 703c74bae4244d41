/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out what a process runs, by its program's file and the libraries that it has loaded. */
#ifndef CTXPROP_CLASSIFY_H
#define CTXPROP_CLASSIFY_H

#include "inspect/subject.h"
#include "runtime/driver.h"

/* What an earlier look has found in this file, with addresses as in the file; NULL: nothing. */
typedef const struct classified *(*classify_known)(const struct stat *file, void *data);

/* subject_open() for a process that is to be classified. */
int classify_open(__u32 tgid, struct subject *ret_subject);

/*
 * 0, or -errno: its files cannot be read. For a sandbox: the files are parsed. Addresses are as
 * the driver's relocate() wants them.
 */
int classify(const struct subject *subject, classify_known known, void *data,
	     struct classified *ret_classified);

/*
 * Check what came from a sandbox: is everything in range, and is each place for a probe in code
 * that the process has mapped? 0, or -EBADMSG.
 */
int classify_check(const struct subject *subject, const struct classified *classified);

#endif
