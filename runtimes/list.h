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
 * runs, and name_HOOK() the answer. For all others holds the default, which stands with the hook.
 */

/* Who is at work (worker.bpf.h). */
#define ANSWERS_who_works(X, ...)                                                                  \
	X(GO, go, __VA_ARGS__)                                                                     \
	X(PYTHON, python, __VA_ARGS__)                                                             \
	X(JAVA, java, __VA_ARGS__)
#define ANSWERS_who_connects(X, ...)                                                               \
	X(GO, go, __VA_ARGS__)                                                                     \
	X(PYTHON, python, __VA_ARGS__)                                                             \
	X(HAPROXY, haproxy, __VA_ARGS__)                                                           \
	X(RUBY, ruby, __VA_ARGS__)                                                                 \
	X(JAVA, java, __VA_ARGS__)
#define ANSWERS_who_calls(X, ...)                                                                  \
	X(GO, go, __VA_ARGS__)                                                                     \
	X(PYTHON, python, __VA_ARGS__)                                                             \
	X(HAPROXY, haproxy, __VA_ARGS__)                                                           \
	X(RUBY, ruby, __VA_ARGS__)                                                                 \
	X(JAVA, java, __VA_ARGS__)

/* What tells of it (hooks.bpf.h). */
#define ANSWERS_evidence(X, ...)                                                                   \
	X(PYTHON, python, __VA_ARGS__)                                                             \
	X(HAPROXY, haproxy, __VA_ARGS__)                                                           \
	X(RUBY, ruby, __VA_ARGS__)                                                                 \
	X(NODE, node, __VA_ARGS__)                                                                 \
	X(JAVA, java, __VA_ARGS__)
#define ANSWERS_phase(X, ...)   X(NODE, node, __VA_ARGS__)
#define ANSWERS_goes_on(X, ...) X(NODE, node, __VA_ARGS__)
#define ANSWERS_thread_given(X, ...)                                                               \
	X(WANTED, wanted, __VA_ARGS__)                                                             \
	X(PYTHON, python, __VA_ARGS__)                                                             \
	X(JAVA, java, __VA_ARGS__)
#define ANSWERS_may_load_more(X, ...) X(PYTHON, python, __VA_ARGS__)
#define ANSWERS_task_reads(X, ...)    X(PYTHON, python, __VA_ARGS__)
#define ANSWERS_task_stays(X, ...)    X(PYTHON, python, __VA_ARGS__)
#define ANSWERS_loop_reads(X, ...)    X(THREADS, native, __VA_ARGS__)
#define ANSWERS_responder_tells(X, ...)                                                            \
	X(PYTHON, python, __VA_ARGS__)                                                             \
	X(RUBY, ruby, __VA_ARGS__)
#define ANSWERS_objects_tell(X, ...)                                                               \
	X(WANTED, wanted, __VA_ARGS__)                                                             \
	X(THREADS, native, __VA_ARGS__)                                                            \
	X(PYTHON, python, __VA_ARGS__)                                                             \
	X(RUBY, ruby, __VA_ARGS__)                                                                 \
	X(NODE, node, __VA_ARGS__)                                                                 \
	X(JAVA, java, __VA_ARGS__)
#define ANSWERS_call_waits_for_turn(X, ...) X(NODE, node, __VA_ARGS__)

/* What happens (hooks.bpf.h). */
#define ANSWERS_requests_read(X, ...) X(HAPROXY, haproxy, __VA_ARGS__)
#define ANSWERS_request_read(X, ...)                                                               \
	X(WANTED, wanted, __VA_ARGS__)                                                             \
	X(THREADS, native, __VA_ARGS__)                                                            \
	X(PYTHON, python, __VA_ARGS__)                                                             \
	X(RUBY, ruby, __VA_ARGS__)                                                                 \
	X(NODE, node, __VA_ARGS__)                                                                 \
	X(JAVA, java, __VA_ARGS__)
#define ANSWERS_read_ends(X, ...) X(NODE, node, __VA_ARGS__)
#define ANSWERS_read_shown(X, ...)                                                                 \
	X(GO, go, __VA_ARGS__)                                                                     \
	X(PYTHON, python, __VA_ARGS__)
#define ANSWERS_response_begins(X, ...)                                                            \
	X(PYTHON, python, __VA_ARGS__)                                                             \
	X(HAPROXY, haproxy, __VA_ARGS__)                                                           \
	X(RUBY, ruby, __VA_ARGS__)
#define ANSWERS_connect_known(X, ...)  X(NODE, node, __VA_ARGS__)
#define ANSWERS_connect_begins(X, ...) X(JAVA, java, __VA_ARGS__)
#define ANSWERS_call_begins(X, ...)                                                                \
	X(THREADS, native, __VA_ARGS__)                                                            \
	X(NODE, node, __VA_ARGS__)                                                                 \
	X(JAVA, java, __VA_ARGS__)
#define ANSWERS_call_decided(X, ...)                                                               \
	X(THREADS, native, __VA_ARGS__)                                                            \
	X(PYTHON, python, __VA_ARGS__)                                                             \
	X(JAVA, java, __VA_ARGS__)
#define ANSWERS_answer_begins(X, ...)        X(JAVA, java, __VA_ARGS__)
#define ANSWERS_others_answer_begins(X, ...) X(JAVA, java, __VA_ARGS__)
#define ANSWERS_thread_made(X, ...)          X(RUBY, ruby, __VA_ARGS__)
#define ANSWERS_thread_made_by(X, ...)       X(PYTHON, python, __VA_ARGS__)
#define ANSWERS_hands_over(X, ...)           X(JAVA, java, __VA_ARGS__)
#define ANSWERS_thread_woken(X, ...)         X(RUBY, ruby, __VA_ARGS__)
#define ANSWERS_loop_woken(X, ...)           X(JAVA, java, __VA_ARGS__)
#define ANSWERS_timed_sleeper_woken(X, ...)  X(JAVA, java, __VA_ARGS__)
#define ANSWERS_sleeper_woken(X, ...)        X(JAVA, java, __VA_ARGS__)

/* What is asked while nothing begins (asked.bpf.h, parts.bpf.h, told.bpf.h). */
#define ANSWERS_asked(X, ...) X(NODE, node, __VA_ARGS__)
#define ANSWERS_work_decided(X, ...)                                                               \
	X(GO, go, __VA_ARGS__)                                                                     \
	X(PYTHON, python, __VA_ARGS__)
#define ANSWERS_told_at_samples(X, ...) X(RUBY, ruby, __VA_ARGS__)
#define ANSWERS_part(X, ...)                                                                       \
	X(PYTHON, python, __VA_ARGS__)                                                             \
	X(HAPROXY, haproxy, __VA_ARGS__)                                                           \
	X(JAVA, java, __VA_ARGS__)
#define ANSWERS_part_works_on(X, ...)                                                              \
	X(PYTHON, python, __VA_ARGS__)                                                             \
	X(HAPROXY, haproxy, __VA_ARGS__)

/* Frames for the profiler (sample.bpf.h). */
#define ANSWERS_unwind(X, ...)                                                                     \
	X(NODE, node, __VA_ARGS__)                                                                 \
	X(JAVA, java, __VA_ARGS__)
#define ANSWERS_stack_end(X, ...) X(PYTHON, python, __VA_ARGS__)
#define ANSWERS_stack_take(X, ...)                                                                 \
	X(PYTHON, python, __VA_ARGS__)                                                             \
	X(RUBY, ruby, __VA_ARGS__)

#endif
