/* SPDX-License-Identifier: Apache-2.0 */
/* Methods that a compiler of HotSpot has put into others, at a place from which they call. */
#ifndef CTXPROP_RUNTIMES_JAVA_SCOPES_H
#define CTXPROP_RUNTIMES_JAVA_SCOPES_H

#include <stddef.h>

#include "runtimes/java/code_layout.h"

#define JAVA_SCOPES_MAX 32

/*
 * Read which methods a blob is in where it has called, by the return address (`place`: in the
 * blob): addresses of Methods, the innermost first, of which the last one is the method that was
 * compiled. Returns how many there are; 0: it cannot be told.
 */
size_t java_scopes_read(int memory, const struct java_code *code, __u64 blob, __u32 place,
			__u64 ret_methods[JAVA_SCOPES_MAX]);

#endif
