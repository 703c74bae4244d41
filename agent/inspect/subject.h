/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that is to be inspected: its program and those of its libraries that matter, each as an
 * open file, and where these are mapped. All of it comes from the kernel; nothing comes from the
 * contents of a file.
 */
#ifndef CTXPROP_SUBJECT_H
#define CTXPROP_SUBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <linux/types.h>

#define SUBJECT_FILES_MAX  16
#define SUBJECT_RANGES_MAX 4
#define SUBJECT_NAME_MAX   64

/* A library that matters: how its file's name begins. */
struct subject_wanted {
	const char *prefix;
	bool memory; /* the memory of a process that has it is read, too */
};

/* Bytes of a file: from the first to the one behind the last. */
struct subject_range {
	__u64 from, to;
};

struct subject_file {
	int fd;        /* -ESTALE: the file can no longer be opened; or -errno */
	bool overlaid; /* it is seen through overlayfs */
	bool memory;   /* see struct subject_wanted */
	__u8 range_count;
	__u64 start; /* address that its first byte is mapped at; 0 for the program */
	struct stat stat;
	struct subject_range range[SUBJECT_RANGES_MAX]; /* what is mapped to be executed */
	char name[SUBJECT_NAME_MAX];                    /* the last part of its path, cut */
};

#define SUBJECT_PROGRAM 0 /* its index */

struct subject {
	__u32 tgid;
	__u32 file_count;
	__u64 entry;   /* address that the program begins at; 0: not known */
	__u64 started; /* since the system started, in its clock ticks */
	int memory_fd; /* to read from; -1: its memory is not read */
	struct subject_file file[SUBJECT_FILES_MAX]; /* the program; then libraries: see below */
};

#define SUBJECT_NONE ((struct subject){.memory_fd = -1})

/*
 * Open the program of a process and, for each name that is wanted, the first file that it has
 * mapped from its beginning and whose name begins so. There may be SUBJECT_FILES_MAX - 1 names.
 * `ret_subject` is to be closed. 0, or -errno: nothing is open.
 */
int subject_open(__u32 tgid, const struct subject_wanted *wanted, size_t count,
		 struct subject *ret_subject);
void subject_close(struct subject *subject);

/* The library whose name begins like this, among the wanted ones; NULL: the process has none. */
const struct subject_file *subject_find(const struct subject *subject, const char *prefix);

/* Has the process mapped this byte of the file as code? */
bool subject_file_runs(const struct subject_file *file, __u64 offset);

/* Send it over a unix socket that keeps message boundaries, without the memory. 0 or -errno. */
int subject_send(int socket, const struct subject *subject);

/* `ret_subject` is to be closed. 0, or -errno: nothing is open. */
int subject_receive(int socket, struct subject *ret_subject);

#define _cleanup_subject_ __attribute__((cleanup(subject_close)))

#endif
