/* SPDX-License-Identifier: Apache-2.0 */
/* The functions behind the methods of an extension module of Python. */
#ifndef CTXPROP_RUNTIMES_PYTHON_METHODS_H
#define CTXPROP_RUNTIMES_PYTHON_METHODS_H

#include "inspect/elf_image.h"

/*
 * Call `found` with the address of every function that a table of methods (PyMethodDef) has under
 * this name. Returns how many there were, or what `found` returned below 0.
 */
int python_methods_each(struct elf_image *image, const char *name,
			int (*found)(__u64 address, void *data), void *data);

/* The same, for those that stand right before a method with the name `behind`. */
int python_methods_each_before(struct elf_image *image, const char *name, const char *behind,
			       int (*found)(__u64 address, void *data), void *data);

#endif
