/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CTXPROP_RESIDENT_H
#define CTXPROP_RESIDENT_H

/*
 * From now on malloc() returns what is freed at the end of its heaps to the kernel. By default it
 * keeps more and more, in the heap of each thread, after a large block was freed.
 */
void resident_keep_low(void);

/*
 * Return memory to the kernel that is not needed any more: free blocks of malloc(), and the pages
 * of this program's constants, which are read from its file again when needed. (Most of them are
 * BPF objects.)
 */
void resident_shrink(void);

#endif
