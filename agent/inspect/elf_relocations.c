// SPDX-License-Identifier: Apache-2.0
/* What the loader will store in an executable file's memory. */
#include <errno.h>
#include <string.h>

#include "inspect/elf_image.h"
#include "inspect/elf_image_inside.h"

static int find_relocation(Elf_Data *data, __u64 where, __u64 *ret_address)
{
	GElf_Rela relocation;

	for (int i = 0; gelf_getrela(data, i, &relocation); i++) {
		if (relocation.r_offset != where)
			continue;
		*ret_address = (__u64)relocation.r_addend;
		return 0;
	}
	return -ENOENT;
}

int elf_image_relocation(struct elf_image *image, __u64 where, __u64 *ret_address)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	Elf_Data *data;

	while ((data = elf_image_next_of_type(image, SHT_RELA, &section, &header)))
		if (!find_relocation(data, where, ret_address))
			return 0;
	return -ENOENT;
}

static bool is_named(struct elf_image *image, size_t symbols, __u64 index, const char *name)
{
	Elf_Scn *section = elf_getscn(image->elf, symbols);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	GElf_Shdr header;
	GElf_Sym symbol;
	const char *found = NULL;

	if (data && gelf_getshdr(section, &header) && gelf_getsym(data, (int)index, &symbol))
		found = elf_strptr(image->elf, header.sh_link, symbol.st_name);
	return found && !strcmp(found, name);
}

/* The relocation of the word at `where`, and of which section it is. */
static bool relocation_at(struct elf_image *image, __u64 where, GElf_Rela *ret_relocation,
			  GElf_Shdr *ret_section)
{
	Elf_Scn *section = NULL;
	Elf_Data *table;

	while ((table = elf_image_next_of_type(image, SHT_RELA, &section, ret_section)))
		for (int i = 0; gelf_getrela(table, i, ret_relocation); i++)
			if (ret_relocation->r_offset == where)
				return true;
	return false;
}

bool elf_image_is_linked(struct elf_image *image, __u64 where, const char *name)
{
	GElf_Rela relocation;
	GElf_Shdr section;

	return relocation_at(image, where, &relocation, &section) &&
	       is_named(image, section.sh_link, GELF_R_SYM(relocation.r_info), name);
}

bool elf_image_has_relocation(struct elf_image *image, unsigned int type, __u64 where)
{
	GElf_Rela relocation;
	GElf_Shdr section;

	return relocation_at(image, where, &relocation, &section) &&
	       GELF_R_TYPE(relocation.r_info) == type && !GELF_R_SYM(relocation.r_info);
}

int elf_image_named_relocation(struct elf_image *image, unsigned int type, const char *name,
			       __u64 *ret_where)
{
	Elf_Scn *section = NULL;
	GElf_Rela relocation;
	GElf_Shdr header;
	Elf_Data *table;

	while ((table = elf_image_next_of_type(image, SHT_RELA, &section, &header)))
		for (int i = 0; gelf_getrela(table, i, &relocation); i++) {
			if (GELF_R_TYPE(relocation.r_info) != type ||
			    !is_named(image, header.sh_link, GELF_R_SYM(relocation.r_info), name))
				continue;
			*ret_where = relocation.r_offset;
			return 0;
		}
	return -ENOENT;
}

int elf_image_each_pointer(struct elf_image *image, __u64 address,
			   int (*visit)(struct elf_image *image, __u64 where, void *data),
			   void *data)
{
	Elf_Scn *section = NULL;
	GElf_Rela relocation;
	GElf_Shdr header;
	Elf_Data *table;
	int result = 0;

	while (!result && (table = elf_image_next_of_type(image, SHT_RELA, &section, &header)))
		for (int i = 0; !result && gelf_getrela(table, i, &relocation); i++)
			if ((__u64)relocation.r_addend == address)
				result = visit(image, relocation.r_offset, data);
	return result;
}
