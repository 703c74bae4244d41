/* SPDX-License-Identifier: Apache-2.0 */
/* What a program's file says of the thread-local variables that have ids or labels. */
#ifndef CTXPROP_PROFILE_TAKE_THREAD_FILE_H
#define CTXPROP_PROFILE_TAKE_THREAD_FILE_H

#include <stdbool.h>
#include <linux/types.h>

#include "inspect/elf_image.h"
#include "profile/sample.h"
#include "profile/take/registered.h"

/* The variables whose names are published, and behind them those that were registered. */
enum thread_symbol {
	THREAD_OTEL,
	THREAD_ELASTIC,
	THREAD_CUSTOM,
	THREAD_REGISTERED, /* the first of these */
	THREAD_SYMBOLS = THREAD_REGISTERED + REGISTERED_MAX,
};

/* Slots: addresses from the file's base on, of what the linker at run time fills in; 0: none. */
struct thread_variable {
	bool defined;
	__u64 value, size;     /* in the block of the file's variables */
	__u64 offset_slot;     /* offset from the thread pointer */
	__u64 module_slot;     /* module, offset */
	__u64 own_module_slot; /* module of this file */
	__u64 descriptor_slot; /* resolver, argument */
};

struct thread_file {
	struct thread_variable variable[THREAD_SYMBOLS];
	bool has_block;
	__u64 block_size;     /* if it is the program: its block ends at the thread pointer */
	__u64 custom_version; /* from the base on: where the ABI of its labels stands; 0: nowhere */
	__u64 linker;         /* glibc, from the base on: a pointer to its linker's data; 0: none */
	__u64 modules;        /* and what says where in them the list of modules is; 0: none */
	struct profile_go go; /* of a program in Go */
	char symbol[REGISTERED_MAX][REGISTERED_SYMBOL_MAX]; /* as they were asked for */
};

/*
 * Read a file in a sandbox. 0, -ENOEXEC: it cannot be read, or -errno. `ret_file` is freed by
 * thread_file_free().
 */
int thread_file_read(int fd, const struct registered *registered, struct thread_file **ret_file);
void thread_file_free(struct thread_file *file);

/* The same of an image; what was asked for stands in `file`, which is zero elsewhere. */
void thread_file_find(struct elf_image *image, struct thread_file *file);

#endif
