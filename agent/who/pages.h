/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of a process's memory, copied into a map for BPF programs that ask about it. */
#ifndef CTXPROP_WHO_PAGES_H
#define CTXPROP_WHO_PAGES_H

#include <linux/types.h>

#include "inspect/proc_reader.h"

/*
 * Copy the page at an address, of the process that `reader` is at, into the map (who/who.h). One
 * that cannot be read is put down as such. 0 or -errno.
 */
int pages_copy(int map_fd, struct proc_reader *reader, __u64 address);

/* Forget all pages. */
void pages_forget(int map_fd);

#endif
