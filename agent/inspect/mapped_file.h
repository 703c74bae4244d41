/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening what a process runs, and has mapped: the very inode, whatever its path leads to by now.
 * Other users choose these paths and may change them at any time, so that a path alone says
 * nothing.
 *
 * What is opened is a regular file, not one of a file system in user space (FUSE), whose server
 * could let us wait for ever. Opening may take long all the same (a network file system).
 */
#ifndef CTXPROP_MAPPED_FILE_H
#define CTXPROP_MAPPED_FILE_H

#include "inspect/mapping.h"

/*
 * A descriptor of the directory /proc/PID, which stays that of this process: once it has ended,
 * nothing is found below it, even if another process gets its number. -errno: there is no such
 * process.
 */
int mapped_file_process(__u32 tgid);

/* The program of the process. Returns a descriptor to read from, or -errno. */
int mapped_file_open_program(int proc_fd);

/*
 * The file of a mapping. Returns a descriptor to read from; -ESTALE: its path leads to another
 * file, or to none; or -errno.
 */
int mapped_file_open(int proc_fd, const struct mapping *mapping);

/*
 * Fill in device and inode of a file as /proc/PID/maps shows them, which is not always what fstat()
 * says (overlayfs, btrfs). 0 or -errno.
 */
int mapped_file_identity(int fd, struct mapping *ret_mapping);

/* Are these mappings of one file? */
static inline bool mapped_file_is_same(const struct mapping *a, const struct mapping *b)
{
	return a->inode && a->major == b->major && a->minor == b->minor && a->inode == b->inode;
}

#endif
