/* SPDX-License-Identifier: Apache-2.0 */
/* What a profile asks runtimes: what the functions are called that samples have met. */
#ifndef CTXPROP_RUNTIMES_NAMES_H
#define CTXPROP_RUNTIMES_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "runtimes/compiled.h"

#define NAMED_TEXT_MAX  768 /* bytes of a name, its file and its line, with a NUL */
#define NAMED_LINE_MAX  11  /* of which these are the line's, with the end of the one before */
#define NAMED_READS_MAX 2048
#define NAMED_DEPTH_MAX 63 /* of functions that are put one into the other */

/* A function as a sample has it (bpf/profile/sample.h). */
struct named_code {
	__u32 tgid;
	__u64 life; /* of the program that the process runs */
	__u8 kind, layout;
	__u64 address, check;
	const struct runtime_compiled *compiled; /* of the process; NULL: not known */
	/* A compiler may have put one function into another: the innermost one is number 0. */
	__u8 depth;
	bool is_inner; /* only those that were put into the function of the pair behind it */
};

struct runtime_names {
	/*
	 * How the name of the native function begins that is one call of the interpreter, in whose
	 * place its functions are shown; NULL: it has none.
	 */
	const char *interpreter;
	/*
	 * How the name of the function begins that this one calls for all that runs, and that is
	 * left out with it; in files without names for it, it is the one that has none. NULL: there
	 * is no such function.
	 */
	const char *loop;
	/*
	 * The innermost call of the interpreter may not have a function yet, or any more, or its
	 * function not a call yet; all others belong together, the outermost to the outermost.
	 */
	bool may_differ;
	/*
	 * How the name of the file begins whose functions exchange the stack of a thread for
	 * another one; NULL: there is none.
	 */
	const char *switcher;
	const char *unknown; /* what is shown for a function whose name cannot be told */
	/*
	 * Read "FUNCTION\nFILE" or "FUNCTION\nFILE\nLINE" (the function's first one) by a
	 * descriptor for the process's memory into NAMED_TEXT_MAX bytes, in UTF-8 without other
	 * control characters, by not more than NAMED_READS_MAX reads, whatever the memory holds. It
	 * runs in a sandbox (agent/profile/names/name_reader.h). 0; 1: it was put into another one,
	 * whose depth is one more; -ESTALE: there is another object by now; -EINVAL: it makes no
	 * sense; -ENOENT: nothing was put into the function (`is_inner`).
	 */
	int (*read)(int memory, const struct named_code *code, char *ret_text);
	/*
	 * Find out what the sampler must know of a process to go through the code that it has
	 * compiled, but for `life`, by reading in a sandbox; NULL: it compiles none. 0 or -errno.
	 */
	int (*compiled)(__u32 tgid, struct runtime_compiled *ret_compiled);
};

/*
 * What read() writes, into NAMED_TEXT_MAX bytes. The line is left out if it is none (from 1 on, of
 * 31 bits).
 */
void names_write(const char *function, const char *file, __u32 line, char *ret_text);

/* `kind`: enum runtime_kind. NULL: its functions have no names. */
const struct runtime_names *runtime_names_of(__u8 kind);

#endif
