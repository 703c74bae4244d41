/* SPDX-License-Identifier: Apache-2.0 */
/* Places in machine code (x86-64), of Go's functions mostly, that no symbol tells. */
#ifndef CTXPROP_MACHINE_CODE_H
#define CTXPROP_MACHINE_CODE_H

#include <stddef.h>
#include <linux/types.h>

/*
 * Probes are put on jumps and calls where there is a choice: the kernel can do these by itself,
 * which is ten times as cheap as letting the program do a single instruction somewhere else.
 */

/*
 * Where code that stands at `address` calls the function at `target`: the offset of the first
 * call at or behind the offset `from`. 0, or -ENOENT.
 */
int machine_code_call(const __u8 *code, size_t size, __u64 address, __u64 target, size_t from,
		      size_t *ret_offset);

/*
 * Where in thread-local storage a program keeps the current goroutine, as runtime.gogo stores
 * it there. 0, or -ENOENT when it is stored in some other way.
 */
int machine_code_g_offset(const __u8 *code, size_t size, __s32 *ret_offset);

/*
 * The jump with which a function decides at its start whether its stack must grow: all arguments
 * still stand in registers. It is met twice if the stack grows. 0 (the entry) if there is none.
 */
size_t machine_code_entry(const __u8 *code, size_t size);

/* The address that a stub jumps to stands at another one: which? 0, or -ENOENT: it is no stub. */
int machine_code_slot(const __u8 *stub, size_t size, __u64 address, __u64 *ret_slot);

/*
 * Where the first thread-local variable that code of a library asks for is described to the dynamic
 * linker: by the two words at an address. (Linkers know the instructions, which are always the
 * same.) 0, or -ENOENT: it asks for none, or in another way.
 */
int machine_code_variable(const __u8 *code, size_t size, __u64 address, __u64 *ret_slot);

#endif
