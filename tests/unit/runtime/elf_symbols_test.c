// SPDX-License-Identifier: Apache-2.0
/* Symbols by name: the same with the table of hashes as by going through all of them. */
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "program.h"

#define SELF "/proc/self/exe" /* linked with --export-dynamic, so that it has symbols */

/* For this program itself to be looked into. */
int elf_symbols_test_number = 7;

static void finds_what_is_exported(void **state)
{
	_cleanup_program_ struct program program = program_at(SELF);
	__u64 address, start, end;

	(void)state;
	assert_int_equal(elf_image_symbol(program.image, "elf_symbols_test_number", &address), 0);
	assert_int_equal(
	    elf_image_symbol_range(program.image, "elf_symbols_test_number", &start, &end), 0);
	assert_int_equal(start, address);
	assert_int_equal(end - start, sizeof(elf_symbols_test_number));
}

/* Names of other files' symbols are there, too, but nothing is defined. */
static void finds_nothing_else(void **state)
{
	static const char *const names[] = {
	    "",       "elf_symbols_test_numbe", "elf_symbols_test_number2", "memcpy",
	    "strlen", "_cmocka_run_group_tests"};
	_cleanup_program_ struct program program = program_at(SELF);
	__u64 address;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(elf_image_symbol(program.image, names[i], &address), -ENOENT);
}

/* Every symbol that a large library defines is found, at the address of one of that name. */
static void finds_all_of_a_library(void **state)
{
	static const struct subject_wanted wanted = {.prefix = "libc.so.6"};
	_cleanup_subject_ struct subject self = SUBJECT_NONE;
	int err = subject_open((__u32)getpid(), &wanted, 1, &self);
	const struct subject_file *file = err ? NULL : subject_find(&self, wanted.prefix);
	char path[PATH_MAX];

	assert_non_null(file);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file->fd);

	_cleanup_program_ struct program program = program_at(path);
	Elf *elf = elf_begin(program.fd, ELF_C_READ, NULL);
	Elf_Scn *section = NULL;
	GElf_Shdr header = {};
	GElf_Sym symbol;
	unsigned int count = 0;

	(void)state;
	while ((section = elf_nextscn(elf, section)) && gelf_getshdr(section, &header))
		if (header.sh_type == SHT_DYNSYM)
			break;
	assert_non_null(section);
	for (int i = 1; gelf_getsym(elf_getdata(section, NULL), i, &symbol); i++) {
		const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
		__u64 address;

		if (symbol.st_shndx == SHN_UNDEF || !*name)
			continue;
		assert_int_equal(elf_image_symbol(program.image, name, &address), 0);
		count++;
	}
	assert_true(count > 1000);
	elf_end(elf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(finds_what_is_exported),
	    cmocka_unit_test(finds_nothing_else),
	    cmocka_unit_test(finds_all_of_a_library),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
