/* SPDX-License-Identifier: Apache-2.0 */
/* Workers of runtimes: nothing tells of their end, so they go when their process has gone. */
#ifndef CTXPROP_LEFTOVERS_H
#define CTXPROP_LEFTOVERS_H

/* Remove those from map `workers` whose process has no entry in map `runtimes`. */
void leftovers_remove(int workers_fd, int runtimes_fd);

#endif
