/* SPDX-License-Identifier: Apache-2.0 */
/* What a program's file says of its code: where it is loaded, how to unwind it, and its names. */
#ifndef CTXPROP_PROFILE_NAMES_CODE_FILE_H
#define CTXPROP_PROFILE_NAMES_CODE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "profile/sample.h"

#define CODE_ROWS_MAX     (4U << 20) /* of one file: as many as the sampler can search */
#define CODE_SEGMENTS_MAX 8

/* A part of the file that is loaded as code. */
struct code_segment {
	__u64 offset, size; /* in the file */
	__u64 address;
};

struct code_layout {
	__u64 base;          /* the lowest address of all that is loaded */
	bool frame_pointers; /* every function keeps one: Go */
	bool has_threads;    /* it may have thread-local variables that are labels */
	__u32 segment_count;
	struct code_segment segment[CODE_SEGMENTS_MAX];
};

struct code_file {
	struct code_layout layout;
	__u32 row_count;
	struct profile_row row[]; /* by address, counted from the base */
};

/*
 * Read a file in a sandbox. It has no rows if it has no unwind table that is understood. 0,
 * -ENOEXEC: it is no program for this machine; or -errno. `ret_file` is freed by code_file_free().
 */
int code_file_read(int fd, struct code_file **ret_file);
void code_file_free(struct code_file *file);

/* The address of the file's byte at `offset`, from its base on. 0, or -ENOENT: that is no code. */
int code_layout_address(const struct code_layout *layout, __u64 offset, __u64 *ret_address);

#define CODE_NAMES_MAX  16384
#define CODE_TEXT_BYTES (1U << 20)

/* Addresses, counted from the file's base, and the functions that they are in. */
struct code_names {
	__u64 base;
	__u32 count;
	__u32 address[CODE_NAMES_MAX];
	__u32 name[CODE_NAMES_MAX]; /* where in `text`; 0: none is known */
	/* What else has this function, or none, too: from the first address to behind the last. */
	__u32 start[CODE_NAMES_MAX], end[CODE_NAMES_MAX];
	__u32 text_size;
	char text[CODE_TEXT_BYTES]; /* begins with NUL; every name ends with one */
};

/* Memory for names, freed by code_names_free(). NULL: there is none. */
struct code_names *code_names_new(void);
void code_names_free(struct code_names *names);

/* Find the names of the addresses that are filled in, in a sandbox. As code_file_read(). */
int code_names_read(int fd, struct code_names *names);

/* The name of number `i`, or NULL. */
const char *code_names_get(const struct code_names *names, __u32 i);

/* Addresses that have the same name, this one among them. */
void code_names_range(const struct code_names *names, __u32 i, __u32 *ret_start, __u32 *ret_end);

#endif
