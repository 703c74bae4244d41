/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CTXPROP_RESIDENT_H
#define CTXPROP_RESIDENT_H

/*
 * From now on malloc() gives back what is freed at the end of its heaps: by itself it would keep
 * ever more once a large block was freed, for each thread.
 */
void resident_keep_low(void);

/*
 * Give memory back that was needed once: free blocks of malloc(), and the pages of this program's
 * constants, which come back from its file when they are read. (The BPF objects are constants, and
 * most of it.)
 */
void resident_shrink(void);

#endif
