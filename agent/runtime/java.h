/* SPDX-License-Identifier: Apache-2.0 */
/* What a process that runs Java tells about its virtual machine. */
#ifndef CTXPROP_JAVA_H
#define CTXPROP_JAVA_H

#include "context/runtime.h"

/*
 * Look at a process. 0 (kind RUNTIME_JAVA; future_class is 0 as long as FutureTask is not loaded);
 * -ENOENT: it is not Java; -ENOTSUP: it is, but only its threads can be followed (the same kind,
 * with nothing known of its objects; `ret_why`: constant text); or -errno.
 */
int java_inspect(__u32 tgid, struct runtime *ret_runtime, const char **ret_why);

#endif
