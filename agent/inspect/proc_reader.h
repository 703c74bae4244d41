/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading what /proc has of strangers' processes that others than the kernel may have to bring:
 * memory, what is mapped, arguments, files. A page of memory may be one of a file system (FUSE,
 * NFS) whose server never answers. So another process does it, which can be given up: nothing here
 * waits for longer than PROC_READER_MS. A process that it was given up for is left alone for a
 * while (unreadable.h).
 *
 * One process at a time is read, and asked by one thread at a time. What comes is what a stranger
 * has written: it has to be looked at with care.
 */
#ifndef CTXPROP_PROC_READER_H
#define CTXPROP_PROC_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "inspect/mapping.h"

#define PROC_READER_STILL_MS 500   /* so long a reader may do nothing */
#define PROC_READER_MS       10000 /* and so long it may take, where it waits for a processor */
#define PROC_READER_MAPS_MAX (8UL << 20) /* bytes of maps; what is behind them is left out */

struct proc_reader;

/* NULL: no memory. It is cheap where little memory is in use: its process is made by fork(2). */
struct proc_reader *proc_reader_new(void);
void proc_reader_free(struct proc_reader *reader);

/*
 * Begin with a process. 0, also if it is gone: then all functions below return -errno; -EAGAIN: it
 * is left alone for now, or no reader can be started.
 */
int proc_reader_begin(struct proc_reader *reader, __u32 tgid);

/*
 * Was the reader given up since proc_reader_begin()? Then all functions below return -ETIMEDOUT,
 * and what was read of the process before may be incomplete.
 */
bool proc_reader_has_failed(const struct proc_reader *reader);

/* Give up the process, for whose memory or files somebody else has waited `waited_ns` in vain. */
void proc_reader_give_up(struct proc_reader *reader, __u64 waited_ns);

/* How many processes were given up. */
__u64 proc_reader_given_up(const struct proc_reader *reader);

/*
 * A file below /proc/PID, as far as it fits into `size` bytes. Returns how many there are, or
 * -errno.
 */
long proc_reader_file(struct proc_reader *reader, const char *name, char *to, size_t size);

/* As mapping_each(): all lines are there before the first one is visited. */
int proc_reader_maps(struct proc_reader *reader,
		     int (*visit)(const struct mapping *mapping, void *data), void *data);

/* As process_memory_read() and its likes. */
int proc_reader_memory(struct proc_reader *reader, __u64 address, void *to, size_t size);
__u64 proc_reader_u64(struct proc_reader *reader, __u64 address);
__u32 proc_reader_u32(struct proc_reader *reader, __u64 address);

/* As mapped_file_open(): not to be read outside a sandbox. */
int proc_reader_open(struct proc_reader *reader, const struct mapping *mapping);

/* The program's file, as mapped_file_identity() has it. 0 or -errno. */
int proc_reader_program(struct proc_reader *reader, struct mapping *ret_identity);

#endif
