// SPDX-License-Identifier: Apache-2.0
/*
 * Unwind tables of real programs, held against what libdw says of each address, and tables that
 * make no sense.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <elfutils/libdw.h>

#include "inspect/elf_image.h"
#include "profile/names/code_file.h"
#include "profile/unwind/eh_frame.h"

#define ADDRESSES 20000
#define ROWS_MAX  (1U << 21)
#define RBP       6
#define RSP       7

static struct profile_row rows[ROWS_MAX];

static struct profile_row row_of(long count, __u64 address)
{
	struct profile_row found = {};

	for (long low = 0, high = count; low < high;) {
		long middle = (low + high) / 2;

		if (rows[middle].pc <= address) {
			found = rows[middle];
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return found;
}

/* What libdw says of rbp, as a row has it; -1: nothing that a row could say. */
static int rbp_of(Dwarf_Frame *frame)
{
	Dwarf_Op memory[3], *ops;
	size_t count;

	if (dwarf_frame_register(frame, RBP, memory, &ops, &count))
		return -1;
	if (!ops)
		return 0;
	if (count == 2 && ops[0].atom == DW_OP_call_frame_cfa && ops[1].atom == DW_OP_plus_uconst)
		return (int)(-(__s64)ops[1].number / 8);
	/* At the CFA itself, or undefined: of no use to anybody. */
	return -1;
}

/* The old stack pointer is on the stack. */
static bool is_load(const Dwarf_Op *ops, size_t count)
{
	return count == 3 && ops[0].atom == DW_OP_breg0 + RSP && ops[1].atom == DW_OP_deref &&
	       ops[2].atom == DW_OP_plus_uconst && ops[2].number == 8;
}

/* The same of the CFA, where it is a register and a number. */
static struct profile_row row_by_libdw(Dwarf_Frame *frame)
{
	struct profile_row row = {};
	Dwarf_Op *ops;
	size_t count;
	int rbp = rbp_of(frame);

	if (dwarf_frame_cfa(frame, &ops, &count) || rbp < 0)
		return row;
	if (is_load(ops, count))
		return (struct profile_row){.cfa = PROFILE_CFA_LOAD,
					    .offset = (__u16)(ops[0].number / 8),
					    .rbp = (__u8)rbp};
	if (count != 1 || ops[0].atom != DW_OP_bregx)
		return row;
	row.cfa = ops[0].number == RSP   ? PROFILE_CFA_SP
		  : ops[0].number == RBP ? PROFILE_CFA_BP
					 : PROFILE_CFA_UNKNOWN;
	row.offset = (__u16)(ops[0].number2 / 8);
	row.rbp = (__u8)rbp;
	return row;
}

/* Does the row say what libdw says? Rows that say nothing are counted. */
static void compare(__u64 address, struct profile_row row, Dwarf_Frame *frame, unsigned int *silent)
{
	struct profile_row wanted = row_by_libdw(frame);

	if (row.cfa != PROFILE_CFA_SP && row.cfa != PROFILE_CFA_BP && row.cfa != PROFILE_CFA_LOAD) {
		(*silent)++;
		return;
	}
	if (row.cfa != wanted.cfa || row.offset != wanted.offset || row.rbp != wanted.rbp)
		fail_msg("0x%llx: cfa %u+8*%u rbp %u, libdw: %u+8*%u rbp %u", address, row.cfa,
			 row.offset, row.rbp, wanted.cfa, wanted.offset, wanted.rbp);
}

struct program {
	struct elf_image *image;
	struct elf_section text, frames;
	Elf *elf;
	Dwarf_CFI *cfi;
	int fd;
};

static void program_open(const char *path, struct program *program)
{
	program->fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(program->fd >= 0);
	assert_int_equal(elf_image_open(program->fd, &program->image), 0);
	assert_int_equal(elf_image_section(program->image, ".eh_frame", &program->frames), 0);
	assert_int_equal(elf_image_section(program->image, ".text", &program->text), 0);
	elf_version(EV_CURRENT);
	program->elf = elf_begin(program->fd, ELF_C_READ_MMAP, NULL);
	program->cfi = dwarf_getcfi_elf(program->elf);
	assert_non_null(program->cfi);
}

static void program_close(struct program *program)
{
	dwarf_cfi_end(program->cfi);
	elf_end(program->elf);
	elf_image_close(program->image);
	close(program->fd);
}

static long table_of(const struct program *program)
{
	const struct eh_frame section = {program->frames.data, program->frames.size,
					 program->frames.address};
	long count = eh_frame_rows(&section, elf_image_base(program->image), rows, ROWS_MAX);

	assert_true(count > 10);
	for (long i = 1; i < count; i++)
		assert_true(rows[i - 1].pc < rows[i].pc);
	return count;
}

static void check(const char *path)
{
	struct program program;
	unsigned int known = 0, silent = 0;
	__u64 base;
	long count;

	if (access(path, R_OK)) {
		printf("%s is not there\n", path);
		return;
	}
	program_open(path, &program);
	base = elf_image_base(program.image);
	count = table_of(&program);
	srandom(1);
	for (int i = 0; i < ADDRESSES; i++) {
		__u64 address = program.text.address + (__u64)random() % program.text.size;
		struct profile_row row = row_of(count, address - base);
		Dwarf_Frame *frame;

		if (dwarf_cfi_addrframe(program.cfi, address, &frame)) {
			assert_int_equal(row.cfa, PROFILE_CFA_UNKNOWN);
			continue;
		}
		known++;
		compare(address, row, frame, &silent);
		free(frame);
	}
	printf("%s: %ld rows, %u addresses known, %u without a rule that a row can say\n", path,
	       count, known, silent);
	assert_true(known > ADDRESSES / 2);
	assert_true(silent <= known / 20);
	program_close(&program);
}

static void own_program(void **state)
{
	(void)state;
	check("/proc/self/exe");
}

static void programs_of_others(void **state)
{
	static const char *const paths[] = {"/usr/bin/python3",
					    "/usr/sbin/nginx",
					    "/usr/bin/node",
					    "/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1",
					    "/usr/bin/bash",
					    "/usr/sbin/haproxy",
					    "/lib/x86_64-linux-gnu/libc.so.6",
					    "/lib/x86_64-linux-gnu/libcrypto.so.3",
					    "/lib/x86_64-linux-gnu/libstdc++.so.6"};

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		check(paths[i]);
}

/* Bytes of a real table, changed at random: nothing breaks, and rows stay in order. */
static void damaged(void **state)
{
	struct program program;
	__u8 *copy;

	(void)state;
	program_open("/proc/self/exe", &program);
	copy = malloc(program.frames.size);
	assert_non_null(copy);
	srandom(2);
	for (int run = 0; run < 300; run++) {
		struct eh_frame section = {copy, program.frames.size, program.frames.address};
		long count;

		memcpy(copy, program.frames.data, program.frames.size);
		for (int i = 0; i < 1 + run % 40; i++)
			copy[(size_t)random() % program.frames.size] = (__u8)random();
		section.size -= (size_t)random() % 64;
		count = eh_frame_rows(&section, elf_image_base(program.image), rows, ROWS_MAX);
		for (long i = 1; i < count; i++)
			assert_true(rows[i - 1].pc < rows[i].pc);
	}
	free(copy);
	program_close(&program);
}

static void no_room(void **state)
{
	struct program program;

	(void)state;
	program_open("/proc/self/exe", &program);
	assert_int_equal(eh_frame_rows(&(struct eh_frame){program.frames.data, program.frames.size,
							  program.frames.address},
				       elf_image_base(program.image), rows, 5),
			 -E2BIG);
	program_close(&program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(own_program),
	    cmocka_unit_test(programs_of_others),
	    cmocka_unit_test(damaged),
	    cmocka_unit_test(no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
