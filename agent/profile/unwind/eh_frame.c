// SPDX-License-Identifier: Apache-2.0
#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "profile/sample.h"
#include "profile/unwind/eh_frame.h"

/* Bytes that are read from the front. `failed`: there were not enough. */
struct dwarf_bytes {
	const __u8 *at, *end;
	bool failed;
};

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

/* Numbers of registers (System V ABI for x86-64, figure 3.36). */
enum { RBP = 6, RSP = 7, RA = 16 };

#define RA_OFFSET (-8) /* from the CFA: where every call puts it */
#define LEB_BITS  63   /* shifts beyond that are no number of ours */

/* The next number, in LEB128 or of `size` bytes; 0 and `failed`: it is cut off, or too long. */
static __u64 dwarf_uleb(struct dwarf_bytes *bytes)
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

static __s64 dwarf_sleb(struct dwarf_bytes *bytes)
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

static __u64 dwarf_fixed(struct dwarf_bytes *bytes, size_t size)
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

/* Numbers from files may overflow, which is defined only for unsigned ones. */
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

/*
 * Run instructions, whose function begins at program->pc. 0, -EINVAL: they make no sense, or what
 * `emit` has returned. The rules that hold at the end are in program->state from program->pc on.
 */
static int cfa_program_run(struct cfa_program *program, const __u8 *from, const __u8 *to)
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

/* The row for these rules, without its address. */
static struct profile_row cfa_row(const struct cfa_state *state)
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

/* How an address is written (LSB 5, "DWARF Extensions"). */
enum { FORMAT = 0x0f, APPLICATION = 0x70, INDIRECT = 0x80 };

/* Rows are gathered in any order. */
struct table {
	const struct eh_frame *section;
	__u64 base;
	struct profile_row *rows;
	size_t count, room;
};

/* What the augmentation of a CIE says. */
struct augmentation {
	__u8 pointers; /* encoding of addresses in FDEs */
	bool signal, known;
};

static int add(struct table *table, __u64 pc, struct profile_row row)
{
	if (pc < table->base || pc - table->base > 0xffffffff)
		return -EINVAL;
	if (table->count == table->room)
		return -E2BIG;
	row.pc = (__u32)(pc - table->base);
	table->rows[table->count++] = row;
	return 0;
}

static int on_rules(const struct cfa_state *state, __u64 from, __u64 to, void *data)
{
	(void)to;
	return add(data, from, cfa_row(state));
}

static size_t fixed_size(__u8 encoding)
{
	switch (encoding & FORMAT) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return 8;
	case DW_EH_PE_udata4:
	case DW_EH_PE_sdata4:
		return 4;
	case DW_EH_PE_udata2:
	case DW_EH_PE_sdata2:
		return 2;
	default:
		return 0;
	}
}

static __u64 sign_extended(__u64 value, size_t size)
{
	unsigned int unused = (unsigned int)(64 - 8 * size);

	return (__u64)((__s64)(value << unused) >> unused);
}

/* A number of this encoding; what it is relative to is not looked at. */
static __u64 read_number(struct dwarf_bytes *bytes, __u8 encoding)
{
	size_t size = fixed_size(encoding);
	__u64 value;

	if (!size) {
		bytes->failed = true;
		return 0;
	}
	value = dwarf_fixed(bytes, size);
	return (encoding & FORMAT) >= DW_EH_PE_signed ? sign_extended(value, size) : value;
}

/* An address, which is absolute or relative to where it stands. */
static __u64 read_address(const struct table *table, struct dwarf_bytes *bytes, __u8 encoding)
{
	__u64 here = table->section->address + (__u64)(bytes->at - table->section->data);
	__u64 value = read_number(bytes, encoding);

	if (encoding & INDIRECT || ((encoding & APPLICATION) != DW_EH_PE_absptr &&
				    (encoding & APPLICATION) != DW_EH_PE_pcrel))
		bytes->failed = true;
	return (encoding & APPLICATION) == DW_EH_PE_pcrel ? here + value : value;
}

/* Only what begins with "z" can be read without knowing all of it. */
static struct augmentation read_augmentation(const Dwarf_CIE *cie)
{
	struct augmentation augmentation = {.pointers = DW_EH_PE_absptr, .known = true};
	struct dwarf_bytes bytes = {cie->augmentation_data,
				    cie->augmentation_data + cie->augmentation_data_size, false};
	const char *letter = cie->augmentation;

	if (!*letter)
		return augmentation;
	augmentation.known = *letter == 'z';
	for (letter++; augmentation.known && *letter; letter++) {
		if (*letter == 'R')
			augmentation.pointers = (__u8)dwarf_fixed(&bytes, 1);
		else if (*letter == 'S')
			augmentation.signal = true;
		else if (*letter == 'P')
			read_number(&bytes, (__u8)dwarf_fixed(&bytes, 1));
		else if (*letter == 'L')
			dwarf_fixed(&bytes, 1);
		else
			augmentation.known = false;
	}
	augmentation.known = augmentation.known && !bytes.failed;
	return augmentation;
}

/* What the rules of a CIE come to at the beginning of a function. */
static int begin_program(struct cfa_program *program, const Dwarf_CIE *cie,
			 const struct augmentation *augmentation)
{
	program->factors = (struct cfa_factors){.code = cie->code_alignment_factor,
						.data = cie->data_alignment_factor,
						.signal = augmentation->signal};
	program->emit = on_rules;
	if (cfa_program_run(program, cie->initial_instructions, cie->initial_instructions_end))
		return -EINVAL;
	program->initial = program->state;
	return 0;
}

/* A function without usable rules: a signal frame, or one that is not understood. */
static int add_whole(struct table *table, __u64 from, __u64 to, enum profile_cfa cfa)
{
	int err = add(table, from, (struct profile_row){.cfa = (__u8)cfa});

	return err ? err : add(table, to, (struct profile_row){.cfa = PROFILE_CFA_UNKNOWN});
}

static int run_function(struct table *table, struct cfa_program *program,
			struct dwarf_bytes *instructions, __u64 from, __u64 to)
{
	int err;

	program->pc = from;
	err = cfa_program_run(program, instructions->at, instructions->end);
	if (!err && program->pc < to)
		err = add(table, program->pc, cfa_row(&program->state));
	return err ? err : add(table, to, (struct profile_row){.cfa = PROFILE_CFA_UNKNOWN});
}

static int add_function(struct table *table, const Dwarf_CIE *cie, const Dwarf_FDE *fde)
{
	struct augmentation augmentation = read_augmentation(cie);
	struct dwarf_bytes bytes = {fde->start, fde->end, false};
	struct cfa_program program = {.data = table};
	__u64 from = read_address(table, &bytes, augmentation.pointers);
	__u64 to = from + read_number(&bytes, augmentation.pointers & FORMAT);
	size_t before = table->count;
	int err;

	if (*cie->augmentation == 'z') {
		__u64 size = dwarf_uleb(&bytes);

		bytes.failed = bytes.failed || size > (__u64)(bytes.end - bytes.at);
		bytes.at += bytes.failed ? 0 : size;
	}
	if (!augmentation.known || bytes.failed || to <= from || from < table->base)
		return 0; /* left by the linker, or unreadable: no rule is better than a wrong one
			   */
	if (augmentation.signal)
		return add_whole(table, from, to, PROFILE_CFA_SIGNAL);
	err = begin_program(&program, cie, &augmentation);
	if (!err)
		err = run_function(table, &program, &bytes, from, to);
	if (err != -EINVAL)
		return err;
	table->count = before;
	return add_whole(table, from, to, PROFILE_CFA_UNKNOWN);
}

/* The CIE that a FDE names, by its offset. 0 or -EINVAL. */
static int find_cie(const unsigned char *ident, Elf_Data *data, Dwarf_Off offset,
		    Dwarf_CFI_Entry *ret_cie)
{
	Dwarf_Off next;

	if (dwarf_next_cfi(ident, data, true, offset, &next, ret_cie) || !dwarf_cfi_cie_p(ret_cie))
		return -EINVAL;
	return 0;
}

static int gather(struct table *table)
{
	static const unsigned char ident[EI_NIDENT] = {
	    [EI_CLASS] = ELFCLASS64, [EI_DATA] = ELFDATA2LSB, [EI_VERSION] = EV_CURRENT};
	Elf_Data data = {.d_buf = (void *)table->section->data,
			 .d_size = table->section->size,
			 .d_type = ELF_T_BYTE,
			 .d_version = EV_CURRENT};
	Dwarf_Off at = 0, next, cie_at = (Dwarf_Off)-1;
	Dwarf_CFI_Entry entry = {}, cie = {};
	int err = 0, more;

	while (!err && !(more = dwarf_next_cfi(ident, &data, true, at, &next, &entry))) {
		at = next;
		if (dwarf_cfi_cie_p(&entry))
			continue;
		if (entry.fde.CIE_pointer != cie_at &&
		    find_cie(ident, &data, entry.fde.CIE_pointer, &cie))
			continue;
		cie_at = entry.fde.CIE_pointer;
		err = add_function(table, &cie.cie, &entry.fde);
	}
	return err ? err : more < 0 && !table->count ? -EINVAL : 0;
}

/* By address; of one address those that know a rule come last. */
static int compare(const void *a, const void *b)
{
	const struct profile_row *first = a, *second = b;

	if (first->pc != second->pc)
		return first->pc < second->pc ? -1 : 1;
	return (first->cfa != PROFILE_CFA_UNKNOWN) - (second->cfa != PROFILE_CFA_UNKNOWN);
}

static bool is_same_rule(const struct profile_row *a, const struct profile_row *b)
{
	return a->cfa == b->cfa && a->offset == b->offset && a->rbp == b->rbp;
}

/* Of rows of one address the last one stays, of equal neighbours the first one. */
static size_t merge(struct profile_row *rows, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		if (i + 1 < count && rows[i + 1].pc == rows[i].pc)
			continue;
		if (!kept || !is_same_rule(&rows[kept - 1], &rows[i]))
			rows[kept++] = rows[i];
	}
	return kept;
}

long eh_frame_rows(const struct eh_frame *section, __u64 base, struct profile_row *rows,
		   size_t room)
{
	struct table table = {.section = section, .base = base, .rows = rows, .room = room};
	int err = gather(&table);

	if (err)
		return err;
	qsort(rows, table.count, sizeof(rows[0]), compare);
	return (long)merge(rows, table.count);
}
