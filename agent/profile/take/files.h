/* SPDX-License-Identifier: Apache-2.0 */
/* The files whose code appeared in samples: each is read once, and stays open for its names. */
#ifndef CTXPROP_PROFILE_TAKE_FILES_H
#define CTXPROP_PROFILE_TAKE_FILES_H

#include "inspect/proc_reader.h"
#include "profile/names/code_file.h"
#include "profile/take/sampler.h"

#define FILES_MAX 512

struct files;

/* The sampler outlives it. NULL: no memory. */
struct files *files_new(struct sampler *sampler);
void files_free(struct files *files);

/*
 * The file of a mapping of the process that is read, as a number from 0 on; -errno: it cannot be
 * had, or is no program.
 */
int files_get(struct files *files, struct proc_reader *reader, const struct mapping *mapping);

/*
 * The code that the kernel maps into every process of 64 bits (vdso(7)), as files_get() has it;
 * ours is the same as theirs.
 */
int files_get_vdso(struct files *files);

/*
 * The mapping as the sampler wants it; its `bias`: address in the process - address from the
 * file's base on. 0, or -ENOENT: what is mapped is no code.
 */
int files_describe(const struct files *files, int file, const struct mapping *mapping,
		   struct profile_mapping *ret_mapping);

/* The file of a mapping, if it is known: a number as files_get() has it, or -ENOENT. */
int files_find(const struct files *files, const struct mapping *mapping);

/* May the file have thread-local variables that are labels? */
bool files_has_threads(const struct files *files, int file);

/* How many there are, with those that were closed: their numbers are all below this one. */
size_t files_count(const struct files *files);
const char *files_name(const struct files *files, int file); /* the last part of its path */
int files_fd(const struct files *files, int file);           /* -1: it was closed */

/*
 * Close the files that no process has had mapped since `before_ns` (CLOCK_MONOTONIC), so that their
 * file systems can be unmounted; `used`: by number, those that are mapped now. If such a file is
 * mapped again it gets a new number.
 */
void files_close_unused(struct files *files, const bool used[FILES_MAX], __u64 before_ns);

/* How full the tables are, in per cent: that of files, or that of unwind rows if it is fuller. */
unsigned int files_used(const struct files *files);

#endif
