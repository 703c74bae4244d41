/* SPDX-License-Identifier: Apache-2.0 */
/* Where a thread-local variable of one process is: what its linker at run time has filled in. */
#ifndef CTXPROP_PROFILE_TAKE_THREAD_SLOT_H
#define CTXPROP_PROFILE_TAKE_THREAD_SLOT_H

#include "inspect/proc_reader.h"
#include "profile/take/thread_file.h"

/* A file as a process has loaded it. */
struct thread_module {
	const struct thread_file *file;
	__u64 bias;      /* address in the process - address from the file's base on */
	bool is_program; /* the one that the process runs */
};

/* What is loaded, and where it can be read. */
struct thread_modules {
	struct proc_reader *reader; /* has begun with the process */
	bool is_musl;
	const struct thread_module *module;
	size_t count;
};

/*
 * The variable of this number (enum thread_symbol), and its size. model 0: nobody has it, or it
 * cannot be told where it is.
 */
struct profile_tls thread_slot_find(const struct thread_modules *modules, size_t symbol,
				    __u64 *ret_size);

#endif
