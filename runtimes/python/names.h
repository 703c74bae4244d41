/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of functions of Python, out of the memory of the process that runs them. They are read soon
 * after the sample, and once for each code object while it lives.
 */
#ifndef CTXPROP_RUNTIMES_PYTHON_NAMES_H
#define CTXPROP_RUNTIMES_PYTHON_NAMES_H

#include "profile/sample.h"
#include "profile/strings.h"

struct python_names;

/* NULL: no memory. */
struct python_names *python_names_new(void);
void python_names_free(struct python_names *names);

/* A code object of a process, as a sample has it. */
struct python_code {
	__u32 tgid;
	__u64 life;
	enum profile_python layout;
	__u64 address, name;
};

/*
 * The number of the text "FUNCTION\nFILE" in python_names_texts(); 0: there is another object there
 * by now, or it cannot be read.
 */
long python_names_get(struct python_names *names, const struct python_code *code);

/* The same, read anew from a descriptor for the process's memory. `layout` is a known one. */
long python_names_read(struct python_names *names, int memory, const struct python_code *code);

const struct strings *python_names_texts(const struct python_names *names);

#endif
