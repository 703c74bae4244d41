// SPDX-License-Identifier: Apache-2.0
#include <gelf.h>
#include <libelf.h>
#include <string.h>

#include "inspect/elf_tls.h"

#define SECTION_MAX (512UL << 20) /* a larger one is not read */

/* What is looked for, and in which symbols a section of relocations names them. */
struct search {
	Elf *elf;
	struct elf_tls_variable *variables;
	size_t count;
	Elf_Data *symbols;
	size_t names;       /* section of their names */
	unsigned char type; /* of symbols that are looked for: STT_... */
};

static Elf_Data *section_data(Elf_Scn *section, GElf_Shdr *ret_header)
{
	if (!section || !gelf_getshdr(section, ret_header) || ret_header->sh_size > SECTION_MAX ||
	    ret_header->sh_type == SHT_NOBITS)
		return NULL;
	return elf_getdata(section, NULL);
}

static bool is_named(const struct search *search, const GElf_Sym *symbol, const char *name)
{
	const char *found = elf_strptr(search->elf, search->names, symbol->st_name);

	return found && !strcmp(found, name);
}

static void note_symbol(struct search *search, const GElf_Sym *symbol)
{
	for (size_t i = 0; i < search->count; i++) {
		struct elf_tls_variable *variable = &search->variables[i];

		if (variable->defined || !is_named(search, symbol, variable->name))
			continue;
		variable->defined = true;
		variable->value = symbol->st_value;
		variable->size = symbol->st_size;
	}
}

/* The symbols of one table, which the file defines. */
static void read_symbols(struct search *search)
{
	GElf_Sym symbol;

	for (int i = 0; gelf_getsym(search->symbols, i, &symbol); i++)
		if (GELF_ST_TYPE(symbol.st_info) == search->type && symbol.st_shndx != SHN_UNDEF)
			note_symbol(search, &symbol);
}

/* Is this relocation for the variable: by its name, or without one by its place in the block? */
static bool is_for(const struct search *search, const GElf_Rela *relocation,
		   const struct elf_tls_variable *variable)
{
	GElf_Sym symbol;

	if (!GELF_R_SYM(relocation->r_info))
		return variable->defined && (__u64)relocation->r_addend == variable->value;
	return search->symbols &&
	       gelf_getsym(search->symbols, (int)GELF_R_SYM(relocation->r_info), &symbol) &&
	       is_named(search, &symbol, variable->name);
}

static void note_module(const struct search *search, const GElf_Rela *relocation,
			struct elf_tls_variable *variable)
{
	if (!GELF_R_SYM(relocation->r_info))
		variable->own_module_slot = relocation->r_offset;
	else if (is_for(search, relocation, variable))
		variable->module_slot = relocation->r_offset;
}

static void note_relocation(const struct search *search, const GElf_Rela *relocation,
			    struct elf_tls_variable *variable)
{
	switch (GELF_R_TYPE(relocation->r_info)) {
	case R_X86_64_DTPMOD64:
		note_module(search, relocation, variable);
		break;
	case R_X86_64_TPOFF64:
		if (is_for(search, relocation, variable))
			variable->offset_slot = relocation->r_offset;
		break;
	case R_X86_64_TLSDESC:
		if (is_for(search, relocation, variable))
			variable->descriptor_slot = relocation->r_offset;
		break;
	default:
		break;
	}
}

static bool is_of_tls(const GElf_Rela *relocation)
{
	const unsigned int type = GELF_R_TYPE(relocation->r_info);

	return type == R_X86_64_DTPMOD64 || type == R_X86_64_TPOFF64 || type == R_X86_64_TLSDESC;
}

static void read_relocations(struct search *search, Elf_Data *table)
{
	GElf_Rela relocation;

	for (int i = 0; gelf_getrela(table, i, &relocation); i++)
		for (size_t j = 0; is_of_tls(&relocation) && j < search->count; j++)
			note_relocation(search, &relocation, &search->variables[j]);
}

static void each_symbols(struct search *search)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(search->elf, section))) {
		search->symbols = section_data(section, &header);
		if (!search->symbols ||
		    (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM))
			continue;
		search->names = header.sh_link;
		read_symbols(search);
	}
}

static void each_relocations(struct search *search)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header, symbols;

	while ((section = elf_nextscn(search->elf, section))) {
		Elf_Data *table = section_data(section, &header);

		if (!table || header.sh_type != SHT_RELA)
			continue;
		search->symbols = section_data(elf_getscn(search->elf, header.sh_link), &symbols);
		search->names = search->symbols ? symbols.sh_link : 0;
		read_relocations(search, table);
	}
}

void elf_tls_find(struct elf_image *image, struct elf_tls_variable *variables, size_t count)
{
	struct search search = {.elf = elf_image_handle(image),
				.variables = variables,
				.count = count,
				.type = STT_TLS};

	each_symbols(&search);
	each_relocations(&search);
}

__u64 elf_tls_object(struct elf_image *image, const char *name)
{
	struct elf_tls_variable object = {.name = name};
	struct search search = {
	    .elf = elf_image_handle(image), .variables = &object, .count = 1, .type = STT_OBJECT};

	each_symbols(&search);
	return object.value;
}
