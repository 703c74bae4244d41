/* SPDX-License-Identifier: Apache-2.0 */
/* What /proc tells of other programs. */
#ifndef CTXPROP_PROC_H
#define CTXPROP_PROC_H

#include <linux/types.h>

/* Of 15 bytes each may become three (foreign.h). */
#define PROC_COMM_MAX 48

/* The name of a thread into a buffer of PROC_COMM_MAX bytes; empty when it is gone. Returns it. */
const char *proc_comm(char *buffer, __u32 tgid, __u32 tid);

/*
 * The lowest descriptor by which a process holds the socket of this inode. -ENOENT: it holds
 * none, or -errno.
 */
int proc_socket_fd(__u32 tgid, __u64 inode);

#endif
