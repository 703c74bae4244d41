// SPDX-License-Identifier: Apache-2.0
/*
 * Node: a thread that writes has libuv's handle of the connection on its stack, and from there it
 * goes on through objects of V8, here of our own making: the socket's call, who is told of the
 * answer (a function), and its variables (a context), which are requests. The numbers are those of
 * pretended_node.c.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pretend.h"

#define WORD       8
#define STRIDE     512 /* of objects: of all of them the same place tells that they were seen */
#define OBJECTS    256
#define CLAIMS_MAX 24
#define ENDLESS    0x7fffffffULL
/* Words of an object before its properties; Node's address is there, too. */
#define OBJECT_START 6

enum kind {
	TYPE_REACTION = 200,
	TYPE_CONTEXT = 300,
	TYPE_OBJECT = 1000,
	TYPE_ARRAY,
	TYPE_FUNCTION,
	TYPE_BOUND,
	TYPE_PROMISE
};

enum property { OWNER, MESSAGE, EVENTS, SOCKET, HANDLE, PROPERTIES };

/* Bytes of objects, and of what is none of V8's. */
enum place {
	AT_ELEMENTS = 16,
	AT_CONTEXT = 32, /* of a function */
	AT_WRAP = 32,    /* of the object of a connection */
	WRAP_SLOT = 8,
	WRAP_HANDLE = 64,
	HANDLE_DATA = 0,
	HANDLE_DESCRIPTOR = 184,
};

/* What a thread has made. */
struct heap {
	unsigned char *memory;
	int used;
	uint64_t map; /* of objects with properties */
	uint64_t handle;
};

static __thread struct heap heap;
static int claimed[CLAIMS_MAX], claims; /* descriptors */

static struct {
	void (*makes)(const void *, const void *), (*connects)(const void *, const void *),
	    (*closes)(const void *, const void *), (*posts)(const void *, const void *),
	    (*reads)(const void *, const void *);
} probed;

static uint64_t *word(uint64_t object, int at)
{
	return (uint64_t *)(uintptr_t)((object & ~1ULL) + (uint64_t)at);
}

/* The next object, its address as V8 has it. */
static uint64_t make(uint64_t map)
{
	const uint64_t object =
	    (uintptr_t)heap.memory + (uint64_t)(heap.used++ % OBJECTS) * STRIDE + 1;

	*word(object, 0) = map;
	return object;
}

static uint64_t make_map(enum kind type, unsigned int size, unsigned int start)
{
	const uint64_t map = make(0);

	*word(map, 0) = map;
	*word(map, 8) = size | start << 8 | (uint64_t)type << 32;
	return map;
}

static uint64_t make_of(enum kind type)
{
	return make(make_map(type, OBJECT_START, OBJECT_START));
}

static uint64_t make_text(const char *text)
{
	const uint64_t object = make(heap.map);

	*word(object, 8) = (uint64_t)strlen(text) << 32;
	memcpy(word(object, 16), text, strlen(text));
	return object;
}

/* A name that is a symbol has its text in another object. */
static uint64_t make_name(const char *text, bool is_symbol)
{
	const uint64_t name = make_text(text);
	uint64_t symbol;

	if (!is_symbol)
		return name;
	symbol = make(heap.map);
	*word(symbol, 16) = name;
	return symbol;
}

/* All objects have all properties. */
static void make_shape(void)
{
	static const char *const names[PROPERTIES] = {"owner_symbol", "_httpMessage", "_events",
						      "socket", "kHandle"};
	uint64_t descriptors;

	heap.map = make_map(TYPE_OBJECT, OBJECT_START + PROPERTIES, OBJECT_START);
	descriptors = make(heap.map);
	*word(heap.map, 16) = PROPERTIES << 10;
	*word(heap.map, 40) = descriptors;
	for (int i = 0; i < PROPERTIES; i++) {
		*word(descriptors, 24 + i * 3 * WORD) =
		    make_name(names[i], i == OWNER || i == HANDLE);
		*word(descriptors, 32 + i * 3 * WORD) = (uint64_t)i << 19 << 32;
	}
}

static uint64_t *property(uint64_t object, enum property which)
{
	return word(object, (OBJECT_START + (int)which) * WORD);
}

/* Node's object for a connection, with libuv's handle; and JavaScript's, which is returned. */
static uint64_t make_connection(int fd, uint64_t *ret_handle)
{
	const uint64_t object = make(heap.map), wrap = make(0) - 1, slot = make(0) - 1;

	*word(object, AT_WRAP) = wrap;
	*word(slot, 0) = object;
	*word(wrap, WRAP_SLOT) = slot;
	*ret_handle = wrap + WRAP_HANDLE;
	*word(*ret_handle, HANDLE_DATA) = wrap;
	*word(*ret_handle, HANDLE_DESCRIPTOR) = (unsigned int)fd;
	return object;
}

/* A request that was read from a connection. */
static uint64_t make_request(int fd)
{
	const uint64_t request = make(heap.map), socket = make(heap.map);
	uint64_t handle;

	*property(request, SOCKET) = socket;
	*property(socket, MESSAGE) = request;
	*property(socket, HANDLE) = make_connection(fd, &handle);
	return request;
}

/* Variables of a function that was made in one that was made in another one. */
static uint64_t make_variables(void)
{
	const uint64_t context = make_of(TYPE_CONTEXT), scope = make(heap.map);
	const uint64_t around = make_of(TYPE_CONTEXT);
	const uint64_t count = (uint64_t)claims;

	*word(context, 8) = (count + 2) << 32;
	*word(context, 16) = scope;
	*word(context, 24) = around;
	*word(around, 24) = make_of(TYPE_CONTEXT);
	*word(scope, 24) = count << 32;
	for (int i = 0; i < claims; i++)
		*word(context, 32 + i * WORD) = make_request(claimed[i]);
	return context;
}

/* What leads from one to the other for ever. */
static uint64_t make_cycle(void)
{
	const uint64_t function = make_of(TYPE_FUNCTION), context = make_of(TYPE_CONTEXT);
	const uint64_t one = make_of(TYPE_PROMISE), other = make_of(TYPE_REACTION);
	const uint64_t array = make_of(TYPE_ARRAY), bound = make_of(TYPE_BOUND);
	const uint64_t all[] = {function, one, other, array, bound, context};

	*word(function, AT_CONTEXT) = context;
	*word(one, 24) = other;
	*word(other, 8) = *word(other, 24) = other;
	*word(other, 16) = function;
	*word(bound, 24) = *word(bound, 32) = bound;
	*word(array, 8) = ENDLESS << 32;
	*word(array, 16) = array;
	*word(context, 8) = 6ULL << 32;
	*word(context, 16) = *word(context, 24) = context;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		*word(context, 32 + (int)i * WORD) = *word(array, 24 + (int)i * WORD) = all[i];
	return function;
}

/* As many of all as there can be, of what is there, and of what is not. */
static uint64_t make_counts(void)
{
	const uint64_t function = make_cycle(), context = *word(function, AT_CONTEXT);
	const uint64_t scope = make(heap.map);

	*word(heap.map, 16) |= 0x3ff << 10;
	*word(context, 8) = ~0ULL;
	*word(context, 16) = scope;
	*word(scope, 24) = 32ULL << 32;
	*word(function, 24) = ~0ULL;
	return function;
}

/* Who is told of the answer. */
static uint64_t make_told(void)
{
	uint64_t function;

	if (pretend_is("cycle"))
		return make_cycle();
	if (pretend_is("counts"))
		return make_counts();
	function = make_of(TYPE_FUNCTION);
	*word(function, AT_CONTEXT) = pretend_is("wild") ? PRETEND_WILD + 1 : make_variables();
	return function;
}

/* What is found where a call is written on this connection. */
static void make_all(int fd)
{
	uint64_t object, socket, message, events, told;

	heap.used = 0;
	make_shape();
	object = make_connection(fd, &heap.handle);
	socket = make(heap.map);
	message = make(heap.map);
	events = make(heap.map);
	*property(object, OWNER) = socket;
	*property(socket, MESSAGE) = message;
	*property(message, EVENTS) = events;
	told = make_told();
	for (int i = 0; i < PROPERTIES; i++)
		*property(events, (enum property)i) = told;
	*word(events, 8) = told;
}

/* Take the sockets of another process, as if it had passed them on. */
static void take_others(void)
{
	const char *victim = getenv("VICTIM");
	const int process = (int)syscall(SYS_pidfd_open, victim ? atoi(victim) : 0, 0);

	for (int i = 3; i < CLAIMS_MAX && claims < CLAIMS_MAX; i++) {
		const int fd = (int)syscall(SYS_pidfd_getfd, process, i, 0);

		if (fd >= 0)
			claimed[claims++] = fd;
	}
	if (!claims)
		fprintf(stderr, "pretender: nothing taken of %s\n", victim ? victim : "nobody");
}

static void begin(void *library)
{
	if (pretend_is("others"))
		take_others();
	*(void **)&probed.makes = dlsym(library, "uv_tcp_init");
	*(void **)&probed.connects = dlsym(library, "uv_tcp_connect");
	*(void **)&probed.closes = dlsym(library, "uv_close");
	*(void **)&probed.posts = dlsym(
	    library,
	    "_ZN4node6worker15MessagePortData18AddToIncomingQueueESt10shared_ptrINS0_7MessageEE");
	*(void **)&probed.reads =
	    dlsym(library, "_ZN4node6worker7Message11DeserializeEPNS_11EnvironmentEN2v85LocalINS4_"
			   "7ContextEEEPNS5_INS4_5ValueEEE");
}

static void take(int fd)
{
	heap.memory = calloc(OBJECTS, STRIDE);
	if (pretend_is("claims") ? claims < CLAIMS_MAX : !claims)
		claimed[claims++] = fd;
}

/* Functions with probes are called with what they are not made for. */
static void mislead(const void *what)
{
	probed.makes(what, what);
	probed.posts(what, what);
	probed.reads(what, what);
	probed.connects(what, what);
	probed.closes(what, what);
}

static ssize_t write_call(int fd, const void *text, size_t size)
{
	volatile uint64_t handle;
	ssize_t written;

	make_all(fd);
	handle = heap.handle;
	if (!pretend_is("first") && !pretend_is("others"))
		mislead((const void *)(uintptr_t)(pretend_is("wild") ? PRETEND_WILD : handle));
	written = write(fd, text, size);
	(void)handle;
	return written;
}

const struct pretense pretend_node = {
    .name = "node", .begin = begin, .take = take, .write = write_call};
