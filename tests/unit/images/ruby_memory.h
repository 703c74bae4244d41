/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of a process of Ruby that is at some methods and blocks, built as the sources of each
 * version say.
 */
#ifndef CTXPROP_TEST_RUBY_MEMORY_H
#define CTXPROP_TEST_RUBY_MEMORY_H

#include <stdbool.h>

#include "image.h"
#include "runtimes/runtime.h"

#define THREAD      0x10000ULL
#define CONTEXT     0x11000ULL
#define STACK       0x12000ULL /* of Ruby */
#define LOCALS      0x18000ULL /* of frame i at + 64 * i */
#define CODE        0x20000ULL /* piece i at + 0x1000 * i, its body, label and path behind it */
#define BODY        0x100
#define LABEL       0x200
#define PATH        0x300
#define TEXT        0x400 /* characters of the label, where they are outside */
#define ITEMS       0x600 /* of an Array, where they are outside */
#define BASE        0x700 /* of the label, without what stands before it */
#define BASE_TEXT   0x800
#define STACK_WORDS 256ULL
#define AROUND      0x30000ULL /* local variables that blocks are in: i at + 0x100 * i */
#define METHODS     0x31000ULL /* method i at + 0x100 * i */
#define CLASS       0x40000ULL /* what methods are in */
#define SINGLETON   0x41000ULL /* its singleton class */
#define PARENT      0x42000ULL /* a module that the class includes */
#define BASIC       0x43000ULL /* BasicObject */
#define MORE        0x800      /* behind a class, before 3.2: what else it has, */
#define TABLE       0x900      /* its variables, */
#define ENTRIES     0xa00
#define NAME        0xc00 /* and its name */

#define NAME_OF_PATHS 0x1cc1 /* what the variable is called that has the name of a class */

#define RUBY_FRAMES 7 /* of the stack */
#define RUBY_WANTED 3 /* of these that are to be found, from the innermost outwards */

/* What such a one is called; the class as far as it is known. */
struct ruby_wanted {
	int code, entry;
	const char *before, *class, *base, *file;
};
extern const struct ruby_wanted ruby_wanted_frame[RUBY_WANTED];

/* The process and the thread that are looked at. */
extern struct image *user_image;
extern struct runtime user_runtime;

/* Build them anew. */
void ruby_memory_build(enum ruby_code_layout layout);

/* Strings are as they are since 3.2. */
bool ruby_is_new(void);

/* Is it known where classes have their names? */
bool ruby_has_classes(void);

/* Classes have their variables, and their names among these, elsewhere: before 3.2. */
bool ruby_has_outside_classes(void);

#endif
