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

/* How far from the addresses in its file, where `entry` is the first, a program was loaded. */
int process_load_bias(__u32 tgid, __u64 entry, __u64 *ret_bias);

/*
 * The first file that the process has mapped from its beginning and whose name begins like this:
 * its path as it is good for us, and the address. 0, -ENOENT: there is none, or -errno.
 */
int process_mapped(__u32 tgid, const char *prefix, char *ret_path, size_t size, __u64 *ret_start);

/* Does the process run the program in this file (device and inode)? */
bool process_runs(__u32 tgid, const struct stat *file);

/* The program's path as the process's namespace has it, for people. Returns `buffer`. */
const char *process_name(char *buffer, size_t size, __u32 tgid);

#endif
