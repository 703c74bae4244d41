/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removes workers of runtimes. Their end is not seen, so this is done when their process has ended.
 */
#ifndef CTXPROP_LEFTOVERS_H
#define CTXPROP_LEFTOVERS_H

/* Remove those from map `workers` whose process has no entry in map `runtimes`. */
void leftovers_remove(int workers_fd, int runtimes_fd);

#endif
