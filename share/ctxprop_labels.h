/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Labels of the current thread's work, for `ctxprop profile` and others that read native custom
 * labels (ABI 1). One header of C or C++, no library; GCC or Clang, Linux on x86-64.
 *
 *     #include "ctxprop_labels.h"
 *
 *     ctxprop_label_set("tenant", tenant);
 *     work();
 *     ctxprop_label_clear("tenant");
 *
 * A thread has up to 10 labels at a time: keys of up to 15 bytes, values of up to 47; what is
 * longer is cut. Texts are copied. Nothing is allocated, no system call is made, and no thread
 * waits for another; not to be called by signal handlers. Every thread begins without labels.
 *
 * A profiler finds them by two names in the symbol table of the program. If that is stripped, link
 * with -Wl,--export-dynamic-symbol=custom_labels_current_set
 * -Wl,--export-dynamic-symbol=custom_labels_abi_version, or -rdynamic. Any number of source files
 * may include it.
 */
#ifndef CTXPROP_LABELS_H
#define CTXPROP_LABELS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CTXPROP_LABELS_MAX       10
#define CTXPROP_LABELS_KEY_MAX   15 /* bytes, without the NUL */
#define CTXPROP_LABELS_VALUE_MAX 47

struct ctxprop_labels_text {
	size_t length;
	const char *bytes; /* of a key: NULL is no label */
};

struct ctxprop_labels_label {
	struct ctxprop_labels_text key, value;
};

struct ctxprop_labels_set {
	struct ctxprop_labels_label *storage;
	size_t count, capacity;
};

/* What a thread owns. */
struct ctxprop_labels_thread {
	struct ctxprop_labels_set set;
	struct ctxprop_labels_label label[CTXPROP_LABELS_MAX];
	char key[CTXPROP_LABELS_MAX][CTXPROP_LABELS_KEY_MAX + 1];
	char value[CTXPROP_LABELS_MAX][CTXPROP_LABELS_VALUE_MAX + 1];
};

/* The names by which profilers find them. The same in every source file, hence weak. */
#define CTXPROP_LABELS_SHARED __attribute__((weak, visibility("default")))

extern CTXPROP_LABELS_SHARED const uint32_t custom_labels_abi_version;
__attribute__((used)) const uint32_t custom_labels_abi_version = 1;
__attribute__((used))
CTXPROP_LABELS_SHARED __thread struct ctxprop_labels_set *custom_labels_current_set;
__attribute__((weak)) __thread struct ctxprop_labels_thread ctxprop_labels_of_thread;

/* The profiler sees the thread at some instruction: all before this has happened then. */
static inline void ctxprop_labels_order(void)
{
	__asm__ __volatile__("" ::: "memory");
}

/* The place of a key, or else a free one; NULL: there is none. */
static inline struct ctxprop_labels_label *ctxprop_labels_place(const char *key, size_t length)
{
	struct ctxprop_labels_thread *mine = &ctxprop_labels_of_thread;
	struct ctxprop_labels_label *place = NULL;

	for (size_t i = 0; i < CTXPROP_LABELS_MAX; i++) {
		struct ctxprop_labels_label *label = &mine->label[i];

		if (!label->key.bytes && !place)
			place = label;
		if (label->key.bytes && label->key.length == length &&
		    !memcmp(label->key.bytes, key, length))
			return label;
	}
	return place;
}

/* As much of a text as fits; not half a character of UTF-8. */
static inline size_t ctxprop_labels_length(const char *text, size_t max)
{
	size_t length = 0;

	while (length < max && text[length])
		length++;
	while (length == max && length && ((unsigned char)text[length] & 0xc0) == 0x80)
		max = --length;
	return length;
}

/* The thread's set with at least `count` labels, shown to profilers from the first one on. */
static inline void ctxprop_labels_show(size_t count)
{
	struct ctxprop_labels_thread *mine = &ctxprop_labels_of_thread;

	if (mine->set.count < count)
		mine->set.count = count;
	if (custom_labels_current_set == &mine->set)
		return;
	mine->set.storage = mine->label;
	mine->set.capacity = CTXPROP_LABELS_MAX;
	ctxprop_labels_order();
	custom_labels_current_set = &mine->set;
}

/* Set a label of this thread, or change its value. 0, or -1: it has CTXPROP_LABELS_MAX others. */
static inline int ctxprop_label_set(const char *key, const char *value)
{
	struct ctxprop_labels_thread *mine = &ctxprop_labels_of_thread;
	const size_t length = ctxprop_labels_length(key, CTXPROP_LABELS_KEY_MAX);
	struct ctxprop_labels_label *label = ctxprop_labels_place(key, length);
	const size_t place = (size_t)(label - mine->label);

	if (!label || !length)
		return -1;
	label->key.bytes = NULL; /* there is no label while it changes */
	ctxprop_labels_order();
	memcpy(mine->key[place], key, length);
	label->key.length = length;
	label->value.length = ctxprop_labels_length(value, CTXPROP_LABELS_VALUE_MAX);
	memcpy(mine->value[place], value, label->value.length);
	label->value.bytes = mine->value[place];
	ctxprop_labels_order();
	label->key.bytes = mine->key[place];
	ctxprop_labels_show(place + 1);
	return 0;
}

/* Take a label of this thread away; none of that key is no error. */
static inline void ctxprop_label_clear(const char *key)
{
	const size_t length = ctxprop_labels_length(key, CTXPROP_LABELS_KEY_MAX);
	struct ctxprop_labels_label *label = ctxprop_labels_place(key, length);

	ctxprop_labels_order();
	if (label)
		label->key.bytes = NULL;
	ctxprop_labels_order();
}

/* Take all of them away. */
static inline void ctxprop_labels_clear(void)
{
	ctxprop_labels_order();
	for (size_t i = 0; i < CTXPROP_LABELS_MAX; i++)
		ctxprop_labels_of_thread.label[i].key.bytes = NULL;
	ctxprop_labels_order();
}

#ifdef __cplusplus
}
#endif

#endif
