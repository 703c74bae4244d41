/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of functions that every Go program carries for its own tracebacks, stripped or not:
 * section .gopclntab, of Go 1.18 and later.
 */
#ifndef CTXPROP_RUNTIMES_GO_PCLNTAB_H
#define CTXPROP_RUNTIMES_GO_PCLNTAB_H

#include <stddef.h>
#include <linux/types.h>

#define PCLNTAB_HEADER_SIZE 72
/* Where the header has the address of the program's text: a relocation in some programs. */
#define PCLNTAB_TEXT_FIELD 24

struct pclntab {
	const __u8 *data;
	size_t size;
	__u64 text;      /* address of the program's text; 0 where it is relocated */
	__u64 functions; /* their number */
	__u64 names;     /* offset of the names */
	__u64 table;     /* offset of the functions */
};

/* Read the header. `data` must stay. 0, or -EINVAL: not such a table, or damaged. */
int pclntab_open(const void *data, size_t size, struct pclntab *ret_table);

/* A function of the program: addresses [start, end). */
struct pclntab_function {
	const char *name; /* empty: it is longer than any that is known */
	__u64 start, end;
};

/* Function number `index`. 0, -ENOENT behind the last, or -EINVAL: damaged. */
int pclntab_get(const struct pclntab *table, __u64 index, struct pclntab_function *ret_function);

#endif
