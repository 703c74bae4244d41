/* SPDX-License-Identifier: Apache-2.0 */
/* Where a process of Java has code that its virtual machine has compiled. */
#ifndef CTXPROP_RUNTIMES_JAVA_COMPILED_H
#define CTXPROP_RUNTIMES_JAVA_COMPILED_H

#include "runtimes/compiled.h"

/*
 * Look at a process; its library is read in a sandbox. 0; -ENOTSUP: its virtual machine is of
 * another version; or -errno.
 */
int java_compiled_read(__u32 tgid, struct runtime_compiled *ret_compiled);

#endif
