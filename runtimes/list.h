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

#define RUNTIME_FOLDERS_ONE(name) RUNTIME_FOLDER_##name,
enum runtime_folder { RUNTIME_FOLDERS(RUNTIME_FOLDERS_ONE) RUNTIME_FOLDERS_COUNT };

/*
 * Who answers which hook (hooks.bpf.h): X(KIND, name, ...), where RUNTIME_KIND is what the process
 * runs, and name_HOOK() the answer. All others have the default that stands with the hook.
 */
#define ANSWERS_request_read(X, ...)                                                               \
	X(WANTED, wanted, __VA_ARGS__)                                                             \
	X(THREADS, native, __VA_ARGS__)                                                            \
	X(PYTHON, python, __VA_ARGS__)                                                             \
	X(RUBY, ruby, __VA_ARGS__)                                                                 \
	X(NODE, node, __VA_ARGS__)                                                                 \
	X(JAVA, java, __VA_ARGS__)

#endif
