/* SPDX-License-Identifier: Apache-2.0 */
/* What /proc tells about the program that a process runs. */
#ifndef CTXPROP_PROCESS_H
#define CTXPROP_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <linux/types.h>

#define PROCESS_PATH_MAX 32

/* The magic link to the program's file, good in any mount namespace. Returns `buffer`. */
const char *process_exe(char buffer[PROCESS_PATH_MAX], __u32 tgid);

/* The file of the program. */
struct process_program {
	dev_t device;
	ino_t inode;
	__u64 size;
};

/*
 * Which program does the process run? False: it is gone. Uses only what the kernel has in memory,
 * so that this never waits for the server of a file system.
 */
bool process_program(__u32 tgid, struct process_program *ret_program);

/* Does the process run the program in this file (device and inode)? */
bool process_runs(__u32 tgid, const struct stat *file);

/* The path of the program in the mount namespace of the process, for people. Returns `buffer`. */
const char *process_name(char *buffer, size_t size, __u32 tgid);

#endif
