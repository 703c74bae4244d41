/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call frame instructions (DWARF 4, section 6.4.2), run for the three registers of x86-64 that a
 * stack is unwound with: rbp, rsp and the return address.
 */
#ifndef CTXPROP_PROFILE_CFA_PROGRAM_H
#define CTXPROP_PROFILE_CFA_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "profile/sample.h"

/* Bytes that are read from the front. `failed`: there were not enough. */
struct dwarf_bytes {
	const __u8 *at, *end;
	bool failed;
};

/* The next number, in LEB128 or of `size` bytes; 0 and `failed`: it is cut off, or too long. */
__u64 dwarf_uleb(struct dwarf_bytes *bytes);
__s64 dwarf_sleb(struct dwarf_bytes *bytes);
__u64 dwarf_fixed(struct dwarf_bytes *bytes, size_t size); /* little endian */

/* What the CIE of a function says. */
struct cfa_factors {
	__u64 code;
	__s64 data;
	bool signal; /* frames of a signal handler's return */
};

/* The rules at one address. */
struct cfa_state {
	__u8 cfa;       /* enum profile_cfa */
	__s64 offset;   /* of the CFA, in bytes; PLT: in bytes, too */
	__u8 plt_from;  /* PROFILE_CFA_PLT: see struct profile_row */
	__s64 rbp;      /* saved at CFA + rbp; 0: as it is */
	bool rbp_lost;  /* saved where no row can say */
	bool ra_is_end; /* there is no return address: the outermost frame */
};

#define CFA_SAVED_MAX 8 /* DW_CFA_remember_state within each other */

struct cfa_program {
	struct cfa_factors factors;
	struct cfa_state state, initial;
	struct cfa_state saved[CFA_SAVED_MAX];
	size_t saved_count;
	__u64 pc;
	/* The rules of `state` hold from `from` to before `to`. Returns 0, or -errno to end. */
	int (*emit)(const struct cfa_state *state, __u64 from, __u64 to, void *data);
	void *data;
};

/*
 * Run instructions, whose function begins at program->pc. 0, -EINVAL: they make no sense, or what
 * `emit` has returned. The rules that hold at the end are in program->state from program->pc on.
 */
int cfa_program_run(struct cfa_program *program, const __u8 *from, const __u8 *to);

/* The row for these rules, without its address. */
struct profile_row cfa_row(const struct cfa_state *state);

#endif
