/* SPDX-License-Identifier: Apache-2.0 */
/* Places in machine code (x86-64), mostly of Go's functions, for which there are no symbols. */
#ifndef CTXPROP_MACHINE_CODE_H
#define CTXPROP_MACHINE_CODE_H

#include <stddef.h>
#include <linux/types.h>

/*
 * Where there is a choice, probes are put on jumps and calls: the kernel emulates these, which is
 * ten times cheaper than single-stepping another instruction out of line.
 */

/*
 * The offset of the first call to the function at `target`, at or behind the offset `from`, in code
 * that is loaded at `address`. 0, or -ENOENT.
 */
int machine_code_call(const __u8 *code, size_t size, __u64 address, __u64 target, size_t from,
		      size_t *ret_offset);

/*
 * The offset in thread-local storage at which runtime.gogo stores the current goroutine. 0, or
 * -ENOENT when it stores it in another way.
 */
int machine_code_g_offset(const __u8 *code, size_t size, __s32 *ret_offset);

/*
 * The jump at the start of a function that decides whether its stack must grow: all arguments are
 * still in registers there. It is executed twice if the stack grows. 0 (the entry) if there is
 * none.
 */
size_t machine_code_entry(const __u8 *code, size_t size);

/* The address of the word that holds the target of a stub's jump. 0, or -ENOENT: it is no stub. */
int machine_code_slot(const __u8 *stub, size_t size, __u64 address, __u64 *ret_slot);

/*
 * The address of the two words that describe to the dynamic linker the first thread-local variable
 * that code of a library uses. (The instructions are always the same, since linkers rewrite them.)
 * 0, or -ENOENT: it uses none, or in another way.
 */
int machine_code_variable(const __u8 *code, size_t size, __u64 address, __u64 *ret_slot);

#endif
