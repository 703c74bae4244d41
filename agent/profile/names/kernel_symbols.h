/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's functions by address: /proc/kallsyms. */
#ifndef CTXPROP_PROFILE_NAMES_KERNEL_SYMBOLS_H
#define CTXPROP_PROFILE_NAMES_KERNEL_SYMBOLS_H

#include <stdbool.h>
#include <linux/types.h>

struct kernel_symbols;

/*
 * Read them. Without rights the kernel shows no addresses: then there are no names. NULL: they
 * cannot be read.
 */
struct kernel_symbols *kernel_symbols_new(void);
void kernel_symbols_free(struct kernel_symbols *symbols);

/* The function that an address is in. NULL: none, or it may be behind the last one of a module. */
const char *kernel_symbols_find(const struct kernel_symbols *symbols, __u64 address);

/*
 * Will the address be that function's for as long as kernel_modules() is the same? Not that of a
 * BPF program, nor what may be beside a module.
 */
bool kernel_symbols_lasts(const struct kernel_symbols *symbols, __u64 address);

/* A number that changes when modules come, go or move. */
__u64 kernel_modules(void);

#endif
