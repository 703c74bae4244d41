/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols by name, found as the dynamic linker finds them: by the table of their hashes
 * (.gnu.hash). Only a few bytes of the file are read, however large it is.
 */
#ifndef CTXPROP_ELF_HASH_H
#define CTXPROP_ELF_HASH_H

#include <elf.h>
#include <stddef.h>
#include <linux/types.h>

/* A part of a file. */
struct elf_part {
	__u64 offset, size;
};

/* The bytes of a file, and where the hash table, its symbols and their names are. */
struct elf_hash {
	const __u8 *data;
	size_t size;
	struct elf_part table, symbols, names;
};

/* A symbol that the file defines. 0; -ENOENT: there is none of this name; -EINVAL: it is too long.
 */
int elf_hash_find(const struct elf_hash *hash, const char *name, Elf64_Sym *ret_symbol);

#endif
