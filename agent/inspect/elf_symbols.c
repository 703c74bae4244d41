// SPDX-License-Identifier: Apache-2.0
/* The symbols of an executable file, by name and by address. */
#include <errno.h>
#include <string.h>

#include "inspect/elf_hash.h"
#include "inspect/elf_image.h"
#include "inspect/elf_image_inside.h"

static bool symbol_covers(const GElf_Sym *symbol, __u64 address)
{
	return GELF_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF &&
	       address >= symbol->st_value && address - symbol->st_value < symbol->st_size;
}

static int find_function(struct elf_image *image, Elf_Scn *section, const GElf_Shdr *header,
			 __u64 address, const char **ret_name, __u64 *ret_start)
{
	Elf_Data *data = header->sh_size <= SECTION_MAX ? elf_getdata(section, NULL) : NULL;
	GElf_Sym symbol;

	for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
		if (!symbol_covers(&symbol, address))
			continue;
		*ret_name = elf_strptr(image->elf, header->sh_link, symbol.st_name);
		*ret_start = symbol.st_value;
		return *ret_name ? 0 : -ENOENT;
	}
	return -ENOENT;
}

int elf_image_function(struct elf_image *image, __u64 address, const char **ret_name,
		       __u64 *ret_start)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_image_next(image, section, &header))) {
		if (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM)
			continue;
		if (!find_function(image, section, &header, address, ret_name, ret_start))
			return 0;
	}
	return -ENOENT;
}

static int visit_functions(struct elf_image *image, Elf_Scn *section, const GElf_Shdr *header,
			   int (*visit)(const struct elf_function_symbol *function, void *data),
			   void *data)
{
	Elf_Data *symbols = header->sh_size <= SECTION_MAX ? elf_getdata(section, NULL) : NULL;
	struct elf_function_symbol function;
	GElf_Sym symbol;
	int result = 0;

	for (int i = 0; !result && symbols && gelf_getsym(symbols, i, &symbol); i++) {
		if (!symbol_covers(&symbol, symbol.st_value))
			continue;
		function = (struct elf_function_symbol){
		    .name = elf_strptr(image->elf, header->sh_link, symbol.st_name),
		    .start = symbol.st_value,
		    .size = symbol.st_size};
		if (function.name)
			result = visit(&function, data);
	}
	return result;
}

int elf_image_each_function(struct elf_image *image,
			    int (*visit)(const struct elf_function_symbol *function, void *data),
			    void *data)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int result = 0;

	while (!result && (section = elf_image_next(image, section, &header)))
		if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM)
			result = visit_functions(image, section, &header, visit, data);
	return result;
}

int elf_image_own_function(struct elf_image *image, const char *name, __u64 *ret_address)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	Elf_Data *data = elf_image_next_of_type(image, SHT_SYMTAB, &section, &header);
	GElf_Sym symbol;

	for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
		const char *found;

		if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF)
			continue;
		found = elf_strptr(image->elf, header.sh_link, symbol.st_name);
		if (!found || strcmp(found, name) != 0)
			continue;
		*ret_address = symbol.st_value;
		return 0;
	}
	return -ENOENT;
}

/* The section of this number in the table of sections. 0, or -ENOENT. */
static int part_of(struct elf_image *image, size_t section, GElf_Shdr *ret_header,
		   struct elf_part *ret_part)
{
	Elf_Scn *found = elf_getscn(image->elf, section);

	if (!found || !gelf_getshdr(found, ret_header))
		return -ENOENT;
	*ret_part = (struct elf_part){.offset = ret_header->sh_offset, .size = ret_header->sh_size};
	return 0;
}

/* The table of the hashes of names, which nearly all files have. 0, or -ENOENT. */
static int find_hash(struct elf_image *image, struct elf_hash *ret_hash)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_image_next(image, section, &header)))
		if (header.sh_type == SHT_GNU_HASH)
			break;
	if (!section)
		return -ENOENT;
	ret_hash->data = image->data;
	ret_hash->size = image->size;
	ret_hash->table = (struct elf_part){.offset = header.sh_offset, .size = header.sh_size};
	if (part_of(image, header.sh_link, &header, &ret_hash->symbols))
		return -ENOENT;
	return part_of(image, header.sh_link, &header, &ret_hash->names);
}

/* Without such a table. */
static int search_symbol(struct elf_image *image, const char *name, GElf_Sym *ret_symbol)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	Elf_Data *data = elf_image_next_of_type(image, SHT_DYNSYM, &section, &header);

	for (int i = 0; data && gelf_getsym(data, i, ret_symbol); i++) {
		const char *found = elf_strptr(image->elf, header.sh_link, ret_symbol->st_name);

		if (found && !strcmp(found, name) && ret_symbol->st_shndx != SHN_UNDEF)
			return 0;
	}
	return -ENOENT;
}

static int find_symbol(struct elf_image *image, const char *name, GElf_Sym *ret_symbol)
{
	struct elf_hash hash;

	return find_hash(image, &hash) ? search_symbol(image, name, ret_symbol)
				       : elf_hash_find(&hash, name, ret_symbol);
}

int elf_image_symbol(struct elf_image *image, const char *name, __u64 *ret_address)
{
	GElf_Sym symbol;
	int err = find_symbol(image, name, &symbol);

	if (!err)
		*ret_address = symbol.st_value;
	return err;
}

int elf_image_symbol_range(struct elf_image *image, const char *name, __u64 *ret_start,
			   __u64 *ret_end)
{
	GElf_Sym symbol;
	int err = find_symbol(image, name, &symbol);

	if (err || !symbol.st_size)
		return -ENOENT;
	*ret_start = symbol.st_value;
	*ret_end = symbol.st_value + symbol.st_size;
	return 0;
}
