/* SPDX-License-Identifier: Apache-2.0 */
/* What a process that runs Java tells about its virtual machine. */
#ifndef CTXPROP_RUNTIMES_JAVA_JAVA_H
#define CTXPROP_RUNTIMES_JAVA_JAVA_H

#include "runtimes/runtime.h"
#include "inspect/subject.h"
#include "runtime/why.h"

/* The library that is looked into, for subject_open(). */
#define JAVA_WANTED 1
extern const struct subject_wanted java_wanted[JAVA_WANTED];

/*
 * Look at a process, whose memory is open if it is Java. 0 (kind RUNTIME_JAVA; future_class is 0 as
 * long as FutureTask is not loaded); -ENOENT: it is not Java; -ENOTSUP: it is, but only its threads
 * can be followed (the same kind, with nothing known of its objects; `ret_why`); -ESTALE: its
 * library is not to be had any more; or -errno.
 */
int java_inspect(const struct subject *subject, struct runtime *ret_runtime, enum why *ret_why);

#endif
