/* SPDX-License-Identifier: Apache-2.0 */
/* The processes of the node that take requests: those in map `runtimes`. */
#ifndef CTXPROP_PROCESSES_H
#define CTXPROP_PROCESSES_H

#include <linux/types.h>

/* Call `visit` for every process; the entry it is called for may be changed. */
void processes_each(int runtimes_fd, void (*visit)(__u32 tgid, void *data), void *data);

#endif
