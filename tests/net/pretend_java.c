// SPDX-License-Identifier: Apache-2.0
/*
 * Java: threads that take requests wait for a future that the thread which makes the calls is at
 * work on. Each thread has one object of each class that matters, and all of them on its stack.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pretend.h"
#include "pretended_java.h"

#define THREADS_MAX 256
#define HEAP_BEFORE 4096 /* bytes: so that no object has the address 0 in 32 bits */
#define SHIFT       3
#define STACK_ABOVE 256        /* bytes above a thread's outermost function of ours */
#define WILD_NARROW 0xfffffff0 /* the address of no object */
#define SENDS       2          /* Http1Exchange.State.BODY */

/* Fields. */
enum { NATIVE, NUMBER, BLOCKER };
enum { RUNNER };

static unsigned char heap[THREADS_MAX][JAVA_CLASSES][JAVA_OBJECT_SIZE] __attribute__((aligned(8)));
static struct java_thread threads[THREADS_MAX];
static struct java_native natives[THREADS_MAX];
static uint64_t objects[THREADS_MAX];
static struct java_machine *machine;
static int made;
static __thread int mine;

static struct {
	struct java_machine *(*begin)(void);
	int (*refers)(int, int);
	uint32_t (*narrow_class)(int);
	void (*be)(struct java_thread *);
} java;

enum { FIRST, WORKER, READERS }; /* threads: the main one, and who makes the calls */

static void *field(int thread, int class, int number)
{
	return heap[thread][class] + JAVA_FIELDS_FROM + number * JAVA_FIELD_BYTES;
}

/* An object's address in 32 bits. */
static uint32_t narrow(int thread, int class)
{
	return (uint32_t)(((uintptr_t)heap[thread][class] - machine->heap_base) >> SHIFT);
}

/* What a field refers to that should refer to an object of class `to`. */
static uint32_t lie(int thread, int class, int to)
{
	if (pretend_is("cycle"))
		return narrow(thread, class);
	if (pretend_is("wild"))
		return WILD_NARROW;
	return narrow(thread, to);
}

static void make_object(int thread, int class, bool is_honest)
{
	const uint32_t says = java.narrow_class(class);

	memcpy(heap[thread][class] + JAVA_CLASS_AT, &says, sizeof(says));
	for (int i = 0; i < JAVA_FIELDS; i++) {
		const int to = java.refers(class, i);
		const uint32_t refers = to == JAVA_NUMBER ? 0
					: is_honest       ? narrow(thread, to)
							  : lie(thread, class, to);

		memcpy(field(thread, class, i), &refers, sizeof(refers));
	}
}

/* A thread's object. */
static void make_thread(int thread)
{
	const uint64_t native = (uintptr_t)&threads[thread], number = (uint64_t)thread + 1;
	const uint32_t sends = SENDS;

	memcpy(field(thread, JAVA_THREAD, NATIVE), &native, sizeof(native));
	memcpy(field(thread, JAVA_THREAD, NUMBER), &number, sizeof(number));
	memcpy(field(thread, JAVA_ENUM, 0), &sends, sizeof(sends));
	objects[thread] = (uintptr_t)heap[thread][JAVA_THREAD];
}

/* All of a thread's sizes are as large as numbers get. */
static void make_counts(struct java_thread *thread)
{
	thread->stack_base = UINT64_MAX - 7;
	thread->buffer_start = 0;
	thread->buffer_top = UINT64_MAX;
}

/* The current thread is the next one of Java's, or this one. */
static void become(int thread, bool is_honest)
{
	const uintptr_t frame = (uintptr_t)__builtin_frame_address(0);

	mine = thread;
	for (int i = 0; i < JAVA_CLASSES; i++)
		make_object(thread, i, is_honest);
	make_thread(thread);
	natives[thread].pthread = (uint64_t)pthread_self();
	threads[thread] = (struct java_thread){.object = &objects[thread],
					       .native = &natives[thread],
					       .stack_base = (frame + STACK_ABOVE) & ~63ULL,
					       .stack_end = frame & ~63ULL};
	if (!is_honest && pretend_is("wild"))
		threads[thread].virtual_object = (uint64_t *)PRETEND_WILD;
	if (!is_honest && pretend_is("counts"))
		make_counts(&threads[thread]);
	java.be(&threads[thread]);
}

static void begin(void *library)
{
	*(void **)&java.begin = dlsym(library, "java_begin");
	*(void **)&java.refers = dlsym(library, "java_refers");
	*(void **)&java.narrow_class = dlsym(library, "java_narrow_class");
	*(void **)&java.be = dlsym(library, "java_be");
	machine = java.begin();
	machine->heap_base = (uintptr_t)heap - HEAP_BEFORE;
	machine->heap_shift = SHIFT;
	machine->thread = &threads[FIRST];
	if (pretend_is("counts")) {
		machine->code_high = UINT64_MAX;
		for (int i = 0; i < JAVA_CLASSES; i++)
			machine->class[i].layout = INT32_MAX;
	}
	become(FIRST, true);
}

/* The worker is at what this thread waits for. ("first": only at that of the first one.) */
static void take(int fd)
{
	const int number = __atomic_fetch_add(&made, 1, __ATOMIC_RELAXED);
	const int thread = READERS + number % (THREADS_MAX - READERS);
	const uint32_t worker = narrow(WORKER, JAVA_THREAD), none = 0;

	become(thread, false);
	memcpy(field(thread, JAVA_CHANNEL, 0), &fd, sizeof(fd));
	if (pretend_is("cycle") || pretend_is("wild"))
		return;
	memcpy(field(thread, JAVA_FUTURE, RUNNER), &worker, sizeof(worker));
	if (pretend_is("first") && number)
		memcpy(field(thread, JAVA_THREAD, BLOCKER), &none, sizeof(none));
}

static void works(void)
{
	become(WORKER, false);
}

static ssize_t write_call(int fd, const void *text, size_t size)
{
	volatile uintptr_t stack[JAVA_CLASSES] = {0};

	memcpy(field(mine, JAVA_CHANNEL, 0), &fd, sizeof(fd));
	for (int i = 0; i < JAVA_CLASSES; i++)
		if (!pretend_is("first"))
			stack[i] = (uintptr_t)heap[mine][i];
	return write(fd, text, size) + (ssize_t)(stack[0] & 1);
}

const struct pretense pretend_java = {.name = "java",
				      .hands_over = true,
				      .begin = begin,
				      .take = take,
				      .works = works,
				      .write = write_call};
