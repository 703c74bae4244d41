/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Thread-local variables of a file: their offsets in its block, and the words in memory by which a
 * process that has loaded it finds the block. x86-64.
 */
#ifndef CTXPROP_ELF_TLS_H
#define CTXPROP_ELF_TLS_H

#include "inspect/elf_image.h"

/* Addresses are those of the file; 0: there is no such place. */
struct elf_tls_variable {
	const char *name; /* which one is looked for */
	bool defined;     /* in this file */
	__u64 value;      /* where in the file's block; only if defined */
	__u64 size;
	/* What relocations fill in: */
	__u64 offset_slot;     /* from the thread pointer (R_X86_64_TPOFF64) */
	__u64 module_slot;     /* module, then the offset in its block (R_X86_64_DTPMOD64) */
	__u64 own_module_slot; /* the module of this file alone */
	__u64 descriptor_slot; /* resolver and argument (R_X86_64_TLSDESC) */
};

/* Fill in what the file says of `count` variables, of which the names are set. */
void elf_tls_find(struct elf_image *image, struct elf_tls_variable *variables, size_t count);

/* The address of an object of this name, among all symbols of the file; 0: there is none. */
__u64 elf_tls_object(struct elf_image *image, const char *name);

#endif
