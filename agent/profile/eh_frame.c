// SPDX-License-Identifier: Apache-2.0
#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <elfutils/libdw.h>

#include "profile/cfa_program.h"
#include "profile/eh_frame.h"

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

/* A function whose rules do not matter: the frame is the kernel's, or not understood. */
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
