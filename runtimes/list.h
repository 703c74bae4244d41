/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * The runtimes, in the order in which user space asks of a process which one it runs: each has a
 * folder of that name here, which defines NAME_driver (agent/runtime/driver.h). tokio comes last:
 * programs of other runtimes may have parts that were written in Rust.
 */
#ifndef CTXPROP_RUNTIMES_LIST_H
#define CTXPROP_RUNTIMES_LIST_H

#define RUNTIME_FOLDERS(X)                                                                         \
	X(go) X(python) X(haproxy) X(ruby) X(node) X(dotnet) X(java) X(erlang) X(tokio)

#define RUNTIME_FOLDERS_ONE(name) +1
#define RUNTIME_FOLDERS_COUNT     (0 RUNTIME_FOLDERS(RUNTIME_FOLDERS_ONE))

#endif
