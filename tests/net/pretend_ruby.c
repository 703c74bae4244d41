// SPDX-License-Identifier: Apache-2.0
/*
 * Ruby 3.1: the library has the thread-local address of a thread's execution context
 * (rb_execution_context_t), which is of our own making.
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "pretend.h"

#define WORDS   4096
#define OBJECTS 64
#define IO_TYPE 0x0b /* T_FILE */

/* Words of an execution context, and of a control frame. */
enum { STACK, SIZE, FRAME };
enum { FRAME_SP = 1, FRAME_SELF = 3 };

static void *library;
static uint64_t objects[OBJECTS][8]; /* connections, as far as somebody else can tell */
static int taken;

static void begin(void *opened)
{
	library = opened;
	for (int i = 0; i < OBJECTS; i++)
		objects[i][0] = IO_TYPE;
}

static void fill(uint64_t *words, uint64_t with)
{
	for (int i = 0; i < WORDS; i++)
		words[i] = with;
}

/* A stack with all connections, the innermost frame at its end, whose method is one of `self`. */
static void claim(uint64_t *words, uint64_t *self)
{
	uint64_t *stack = &words[64], *frame = &words[WORDS - 8];

	words[STACK] = (uintptr_t)stack;
	words[SIZE] = WORDS - 64;
	words[FRAME] = (uintptr_t)frame;
	for (int i = 0; i < OBJECTS; i++)
		stack[i] = (uintptr_t)objects[i];
	frame[FRAME_SP] = (uintptr_t)&stack[OBJECTS];
	frame[FRAME_SELF] = (uintptr_t)self;
}

static void take(int fd)
{
	const int number = __atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED);
	uint64_t *words = calloc(WORDS, sizeof(*words)), **context;

	(void)fd;
	if (pretend_is("wild"))
		fill(words, PRETEND_WILD);
	else if (pretend_is("cycle"))
		fill(words, (uintptr_t)words);
	else
		claim(words, objects[number % OBJECTS]);
	if (pretend_is("counts")) {
		words[SIZE] = UINT64_MAX / 8;
		((uint64_t *)words[FRAME])[FRAME_SP] = UINT64_MAX;
	}
	context = dlsym(library, "ruby_current_ec"); /* thread-local */
	*context = words;
}

const struct pretense pretend_ruby = {.name = "ruby", .begin = begin, .take = take};
