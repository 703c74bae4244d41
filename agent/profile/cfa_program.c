// SPDX-License-Identifier: Apache-2.0
#include <dwarf.h>
#include <errno.h>
#include <string.h>

#include "profile/cfa_program.h"

/* Numbers of registers (System V ABI for x86-64, figure 3.36). */
enum { RBP = 6, RSP = 7, RA = 16 };

#define RA_OFFSET (-8) /* from the CFA: where every call puts it */
#define LEB_BITS  63   /* shifts beyond that are no number of ours */

__u64 dwarf_uleb(struct dwarf_bytes *bytes)
{
	__u64 value = 0;
	__u8 byte = 0x80;

	for (unsigned int shift = 0; byte & 0x80; shift += 7) {
		if (bytes->at >= bytes->end || shift > LEB_BITS) {
			bytes->failed = true;
			return 0;
		}
		byte = *bytes->at++;
		value |= (__u64)(byte & 0x7f) << shift;
	}
	return value;
}

__s64 dwarf_sleb(struct dwarf_bytes *bytes)
{
	__u64 value = 0;
	unsigned int shift = 0;
	__u8 byte = 0x80;

	while (byte & 0x80) {
		if (bytes->at >= bytes->end || shift > LEB_BITS) {
			bytes->failed = true;
			return 0;
		}
		byte = *bytes->at++;
		value |= (__u64)(byte & 0x7f) << shift;
		shift += 7;
	}
	if (byte & 0x40 && shift < 64)
		value |= ~0ULL << shift;
	return (__s64)value;
}

__u64 dwarf_fixed(struct dwarf_bytes *bytes, size_t size)
{
	__u64 value = 0;

	if (size > sizeof(value) || (size_t)(bytes->end - bytes->at) < size) {
		bytes->failed = true;
		return 0;
	}
	memcpy(&value, bytes->at, size);
	bytes->at += size;
	return value;
}

/* Numbers of strangers may overflow: without a sign that is defined. */
static __s64 factored(const struct cfa_program *program, __u64 number)
{
	return (__s64)(number * (__u64)program->factors.data);
}

static int advance(struct cfa_program *program, __u64 delta)
{
	__u64 from = program->pc, to = from + delta * program->factors.code;

	if (to < from)
		return -EINVAL;
	program->pc = to;
	return to > from ? program->emit(&program->state, from, to, program->data) : 0;
}

static void set_cfa(struct cfa_state *state, __u64 reg, __s64 offset)
{
	state->cfa = reg == RSP   ? PROFILE_CFA_SP
		     : reg == RBP ? PROFILE_CFA_BP
				  : PROFILE_CFA_UNKNOWN;
	state->offset = offset;
}

static void set_cfa_register(struct cfa_state *state, __u64 reg)
{
	set_cfa(state, reg, state->offset);
}

static void set_saved(struct cfa_state *state, __u64 reg, __s64 offset)
{
	if (reg == RBP) {
		state->rbp = offset;
		state->rbp_lost = false;
	} else if (reg == RA && offset != RA_OFFSET) {
		state->cfa = PROFILE_CFA_UNKNOWN;
	}
}

/* Saved by a rule that no row can say: an expression, or in another register. */
static void set_lost(struct cfa_state *state, __u64 reg)
{
	if (reg == RBP)
		state->rbp_lost = true;
	else if (reg == RA)
		state->cfa = PROFILE_CFA_UNKNOWN;
}

static void set_undefined(struct cfa_state *state, __u64 reg)
{
	if (reg == RA)
		state->ra_is_end = true;
}

static void restore(struct cfa_program *program, __u64 reg)
{
	if (reg == RBP) {
		program->state.rbp = program->initial.rbp;
		program->state.rbp_lost = program->initial.rbp_lost;
	} else if (reg == RA) {
		program->state.ra_is_end = program->initial.ra_is_end;
	}
}

/*
 * The stub of a procedure linkage table pushes a number at byte `N` of each 16:
 * breg7 A; breg16 0; lit15; and; litN; ge; lit3; shl; plus (binutils, elfxx-x86.c).
 */
static bool is_plt(struct dwarf_bytes block, struct cfa_state *state)
{
	static const __u8 mask[] = {DW_OP_lit15, DW_OP_and};
	static const __u8 tail[] = {DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus};
	__s64 offset, zero;
	__u8 from;

	if (dwarf_fixed(&block, 1) != DW_OP_breg0 + RSP)
		return false;
	offset = dwarf_sleb(&block);
	if (dwarf_fixed(&block, 1) != DW_OP_breg0 + RA)
		return false;
	zero = dwarf_sleb(&block);
	if (zero || block.end - block.at != sizeof(mask) + 1 + sizeof(tail) ||
	    memcmp(block.at, mask, sizeof(mask)) != 0 ||
	    memcmp(block.at + sizeof(mask) + 1, tail, sizeof(tail)) != 0)
		return false;
	from = block.at[sizeof(mask)];
	if (from < DW_OP_lit0 || from > DW_OP_lit15)
		return false;
	state->plt_from = from - DW_OP_lit0;
	state->offset = offset;
	return true;
}

/* Assembly that has aligned its stack keeps the old one there: breg7 N; deref; plus_uconst 8. */
static bool is_load(struct dwarf_bytes block, struct cfa_state *state)
{
	static const __u8 tail[] = {DW_OP_deref, DW_OP_plus_uconst, 8};

	if (dwarf_fixed(&block, 1) != DW_OP_breg0 + RSP)
		return false;
	state->offset = dwarf_sleb(&block);
	return block.end - block.at == sizeof(tail) && !memcmp(block.at, tail, sizeof(tail));
}

static void set_cfa_expression(struct cfa_program *program, struct dwarf_bytes *bytes)
{
	__u64 size = dwarf_uleb(bytes);
	struct dwarf_bytes block = {bytes->at, bytes->at, false};

	if (bytes->failed || size > (__u64)(bytes->end - bytes->at)) {
		bytes->failed = true;
		return;
	}
	block.end += size;
	bytes->at += size;
	program->state.cfa = is_plt(block, &program->state)    ? PROFILE_CFA_PLT
			     : is_load(block, &program->state) ? PROFILE_CFA_LOAD
							       : PROFILE_CFA_UNKNOWN;
}

static void skip_block(struct dwarf_bytes *bytes)
{
	__u64 size = dwarf_uleb(bytes);

	if (size > (__u64)(bytes->end - bytes->at))
		bytes->failed = true;
	else
		bytes->at += size;
}

static int remember(struct cfa_program *program)
{
	if (program->saved_count == CFA_SAVED_MAX)
		return -EINVAL;
	program->saved[program->saved_count++] = program->state;
	return 0;
}

static int recall(struct cfa_program *program)
{
	if (!program->saved_count)
		return -EINVAL;
	program->state = program->saved[--program->saved_count];
	return 0;
}

/* Instructions that change where the CFA is. Returns whether it was one. */
static bool run_cfa(struct cfa_program *program, __u8 code, struct dwarf_bytes *bytes)
{
	struct cfa_state *state = &program->state;
	__u64 reg;

	switch (code) {
	case DW_CFA_def_cfa:
		reg = dwarf_uleb(bytes);
		set_cfa(state, reg, (__s64)dwarf_uleb(bytes));
		return true;
	case DW_CFA_def_cfa_sf:
		reg = dwarf_uleb(bytes);
		set_cfa(state, reg, factored(program, (__u64)dwarf_sleb(bytes)));
		return true;
	case DW_CFA_def_cfa_register:
		set_cfa_register(state, dwarf_uleb(bytes));
		return true;
	case DW_CFA_def_cfa_offset:
		state->offset = (__s64)dwarf_uleb(bytes);
		return true;
	case DW_CFA_def_cfa_offset_sf:
		state->offset = factored(program, (__u64)dwarf_sleb(bytes));
		return true;
	case DW_CFA_def_cfa_expression:
		set_cfa_expression(program, bytes);
		return true;
	default:
		return false;
	}
}

/* Instructions that say where a register is. Returns whether it was one. */
static bool run_register(struct cfa_program *program, __u8 code, struct dwarf_bytes *bytes)
{
	struct cfa_state *state = &program->state;
	__u64 reg;

	switch (code) {
	case DW_CFA_offset_extended:
		reg = dwarf_uleb(bytes);
		set_saved(state, reg, factored(program, dwarf_uleb(bytes)));
		return true;
	case DW_CFA_offset_extended_sf:
		reg = dwarf_uleb(bytes);
		set_saved(state, reg, factored(program, (__u64)dwarf_sleb(bytes)));
		return true;
	case DW_CFA_restore_extended:
		restore(program, dwarf_uleb(bytes));
		return true;
	case DW_CFA_undefined:
		set_undefined(state, dwarf_uleb(bytes));
		return true;
	case DW_CFA_same_value:
		if (dwarf_uleb(bytes) == RBP)
			set_saved(state, RBP, 0);
		return true;
	case DW_CFA_register:
		set_lost(state, dwarf_uleb(bytes));
		dwarf_uleb(bytes);
		return true;
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		set_lost(state, dwarf_uleb(bytes));
		skip_block(bytes);
		return true;
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		set_lost(state, dwarf_uleb(bytes));
		dwarf_uleb(bytes);
		return true;
	default:
		return false;
	}
}

static int run_other(struct cfa_program *program, __u8 code, struct dwarf_bytes *bytes)
{
	switch (code) {
	case DW_CFA_nop:
		return 0;
	case DW_CFA_advance_loc1:
		return advance(program, dwarf_fixed(bytes, 1));
	case DW_CFA_advance_loc2:
		return advance(program, dwarf_fixed(bytes, 2));
	case DW_CFA_advance_loc4:
		return advance(program, dwarf_fixed(bytes, 4));
	case DW_CFA_remember_state:
		return remember(program);
	case DW_CFA_restore_state:
		return recall(program);
	case DW_CFA_GNU_args_size:
		dwarf_uleb(bytes);
		return 0;
	default: /* also DW_CFA_set_loc, which no compiler for x86-64 makes */
		return -EINVAL;
	}
}

/* The upper two bits tell the instructions whose number is in the lower six. */
static int run_one(struct cfa_program *program, struct dwarf_bytes *bytes)
{
	__u8 code = (__u8)dwarf_fixed(bytes, 1), low = code & 0x3f;

	switch (code & 0xc0) {
	case DW_CFA_advance_loc:
		return advance(program, low);
	case DW_CFA_offset:
		set_saved(&program->state, low, factored(program, dwarf_uleb(bytes)));
		return 0;
	case DW_CFA_restore:
		restore(program, low);
		return 0;
	default:
		break;
	}
	if (run_cfa(program, code, bytes) || run_register(program, code, bytes))
		return 0;
	return run_other(program, code, bytes);
}

int cfa_program_run(struct cfa_program *program, const __u8 *from, const __u8 *to)
{
	struct dwarf_bytes bytes = {from, to, false};
	int err = 0;

	while (!err && bytes.at < bytes.end) {
		err = run_one(program, &bytes);
		if (bytes.failed)
			err = -EINVAL;
	}
	return err;
}

/* In units of 8 bytes, as rows have it. Returns whether that can be. */
static bool in_words(__s64 bytes, __s64 max, __u16 *ret)
{
	*ret = (__u16)(bytes / 8);
	return bytes >= 0 && bytes % 8 == 0 && bytes / 8 <= max;
}

struct profile_row cfa_row(const struct cfa_state *state)
{
	struct profile_row row = {.cfa = state->cfa};
	__u16 rbp;

	if (state->ra_is_end)
		return (struct profile_row){.cfa = PROFILE_CFA_END};
	if (row.cfa == PROFILE_CFA_SIGNAL || row.cfa == PROFILE_CFA_END)
		return row;
	if (row.cfa == PROFILE_CFA_UNKNOWN || state->rbp_lost ||
	    !in_words(state->offset, 0xffff, &row.offset) ||
	    !in_words((__s64)(0 - (__u64)state->rbp), 0xff, &rbp))
		return (struct profile_row){.cfa = PROFILE_CFA_UNKNOWN};
	row.rbp = row.cfa == PROFILE_CFA_PLT ? state->plt_from : (__u8)rbp;
	return row;
}
