/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recorded memory of a process, and what its interpreter has told of its stack (record.py), or the
 * program of its goroutines (record_go.py).
 */
#ifndef CTXPROP_TEST_IMAGE_H
#define CTXPROP_TEST_IMAGE_H

#include <stddef.h>
#include <linux/types.h>

#define IMAGE_WORDS_MAX     4096
#define IMAGE_FUNCTIONS_MAX 32
#define IMAGE_PLACES_MAX    16
#define IMAGE_LABELS_MAX    32
#define IMAGE_NAME_SIZE     64

struct image_word {
	__u64 address, value;
};

/* A function that the thread was at; or a goroutine that was at one. */
struct image_function {
	__u64 code, name; /* addresses of its code object and of that one's name; Go: of g, and 0 */
	int entry;        /* C has called the interpreter for it; Go: it waits for another one */
	char text[IMAGE_NAME_SIZE];
};

/* A function of the program, or of its runtime. */
struct image_place {
	char name[IMAGE_NAME_SIZE];
	__u64 start, end;
};

struct image_label {
	char key[IMAGE_NAME_SIZE], value[IMAGE_NAME_SIZE];
};

struct image {
	unsigned int minor;  /* version 3.<minor>; Go: 1.<minor> */
	__u64 thread, key;   /* thread pointer; address of the pthread_key_t of Python's state */
	size_t count, words; /* of functions, the innermost first; and of words, by address */
	struct image_function function[IMAGE_FUNCTIONS_MAX];
	struct image_word word[IMAGE_WORDS_MAX];
	size_t places, labels; /* record_go.py */
	struct image_place place[IMAGE_PLACES_MAX];
	struct image_label label[IMAGE_LABELS_MAX];
	size_t hidden; /* index of a word that cannot be read; IMAGE_WORDS_MAX: all can be */
};

/* Read a file of record.py or record_go.py. 0; -EINVAL: a line that is none, or too many; or
 * -errno. */
int image_open(const char *path, struct image *ret_image);

/* Eight bytes at any address; 0 if one of them is not in the image. */
__u64 image_word(const struct image *image, __u64 address);

/* Whether the eight bytes at a multiple of 8 can be read. */
int image_has(const struct image *image, __u64 address);

/* One more word, at a multiple of 8 that has none yet. 0; -EINVAL: it has, or there is no room. */
int image_add(struct image *image, __u64 address, __u64 value);

/* The word at this address, which is a multiple of 8; NULL: it is not in the image. */
struct image_word *image_find(struct image *image, __u64 address);

/* The same memory as a sparse file, as /proc/PID/mem has it. To be closed; or -errno. */
int image_memory(const struct image *image);

#endif
