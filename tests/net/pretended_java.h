/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a library (pretended_java.c) tells debuggers of a virtual machine of Java, of our own
 * making: its threads, and the classes that the agent looks for. All fields of objects are 8 bytes
 * apart.
 */
#ifndef NET_PRETENDED_JAVA_H
#define NET_PRETENDED_JAVA_H

#include <stdint.h>

#define JAVA_CLASSES     26
#define JAVA_FIELDS      5
#define JAVA_FIELDS_FROM 16 /* bytes before an object's first field */
#define JAVA_FIELD_BYTES 8
#define JAVA_CLASS_AT    8 /* where an object says its class */
#define JAVA_OBJECT_SIZE 64
#define JAVA_NUMBER      (-1)

/* Classes that are named in other places than their table. */
enum { JAVA_THREAD, JAVA_STRING, JAVA_FUTURE, JAVA_WAITER, JAVA_CHANNEL, JAVA_ENUM };

struct java_symbol {
	uint16_t length;
	char text[62];
};

/* A class, as far as it is told. */
struct java_class {
	const struct java_symbol *name;
	struct java_class *next;
	const struct java_symbol *constants[1 + JAVA_FIELDS]; /* the first one is something else */
	uint16_t fields[JAVA_FIELDS][6];
	const void *fields_at;
	const void *constants_at;
	int32_t layout;
	uint16_t field_count;
	uint16_t reserved;
};

struct java_native {
	uint64_t pthread;
};

/* A JavaThread. */
struct java_thread {
	uint64_t *object; /* where the address of its object stands */
	uint64_t *virtual_object;
	uint64_t stack_base, stack_end;
	uint64_t enters, waits;
	struct java_native *native;
	uint64_t buffer_start, buffer_top;
};

/* The machine's variables. */
struct java_machine {
	struct java_thread *thread; /* the first one, which is as it should be */
	uint64_t heap_base, code_low, code_high;
	uint32_t heap_shift;
	struct java_class class[JAVA_CLASSES];
};

/* The machine, whose classes are told from now on. */
struct java_machine *java_begin(void);

/* The class in whose object a field of a class refers to one; or JAVA_NUMBER. */
int java_refers(int class, int field);

/* The address of a class as objects have it. */
uint32_t java_narrow_class(int class);

/* The current thread is this one from now on. */
void java_be(struct java_thread *thread);

#endif
