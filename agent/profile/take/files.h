/* SPDX-License-Identifier: Apache-2.0 */
/* The files whose code was met in samples: each is read once, and stays open for its names. */
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
 * Close those that no process has had mapped since `before_ns` (CLOCK_MONOTONIC), so that they keep
 * no file system busy; `used`: by number, those that one has now. They are not found any more: who
 * maps such a file again gets a new number.
 */
void files_close_unused(struct files *files, const bool used[FILES_MAX], __u64 before_ns);

/* Per cent of the room that is taken, for files or for their unwind tables. */
unsigned int files_used(const struct files *files);

#endif
