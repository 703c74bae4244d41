// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <linux/types.h>

#include "inspect/elf_image.h"

/* A part of a file. */
struct elf_part {
	__u64 offset, size;
};

/* The bytes of a file, and where the hash table, its symbols and their names are. */
struct elf_hash {
	const __u8 *data;
	size_t size;
	struct elf_part table, symbols, names;
};

#define NAME_MAX_SIZE 256 /* longer names are not asked for */
#define BLOOM_BITS    64

/* What the table begins with. Behind it: the filter, the buckets, the hashes. */
struct header {
	__u32 buckets;
	__u32 first; /* symbol that has a hash: those before it are not found by it */
	__u32 filters;
	__u32 shift;
};

/* Copy what stands at a place in a part of the file. 0, or -ENOENT. */
static int read_part(const struct elf_hash *hash, const struct elf_part *part, __u64 at, void *to,
		     size_t size)
{
	if (at > part->size || part->size - at < size || part->offset > hash->size ||
	    hash->size - part->offset < at || hash->size - part->offset - at < size)
		return -ENOENT;
	memcpy(to, hash->data + part->offset + at, size);
	return 0;
}

static __u32 hash_of(const char *name)
{
	__u32 hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (__u8)*name;
	return hash;
}

static __u64 filters_at(__u64 number)
{
	return sizeof(struct header) + number * sizeof(__u64);
}

static __u64 buckets_at(const struct header *header, __u64 number)
{
	return filters_at(header->filters) + number * sizeof(__u32);
}

static __u64 hashes_at(const struct header *header, __u32 symbol)
{
	return buckets_at(header, header->buckets) +
	       (__u64)(symbol - header->first) * sizeof(__u32);
}

/* Test two bits of the Bloom filter, by which most absent names are recognised. 0, or -ENOENT. */
static int pass_filter(const struct elf_hash *hash, const struct header *header, __u32 wanted)
{
	__u64 bits, mask = 1ULL << (wanted % BLOOM_BITS) |
			   1ULL << ((wanted >> header->shift % 32) % BLOOM_BITS);
	int err = read_part(hash, &hash->table, filters_at(wanted / BLOOM_BITS % header->filters),
			    &bits, sizeof(bits));

	return !err && (bits & mask) == mask ? 0 : -ENOENT;
}

/* Is this symbol called that, and defined here? 0, or -ENOENT. */
static int check(const struct elf_hash *hash, __u32 number, const char *name, Elf64_Sym *ret_symbol)
{
	size_t size = strlen(name) + 1;
	char found[NAME_MAX_SIZE];
	int err = read_part(hash, &hash->symbols, (__u64)number * sizeof(*ret_symbol), ret_symbol,
			    sizeof(*ret_symbol));

	if (!err)
		err = read_part(hash, &hash->names, ret_symbol->st_name, found, size);
	return !err && !memcmp(found, name, size) && ret_symbol->st_shndx != SHN_UNDEF ? 0
										       : -ENOENT;
}

/* Search a bucket: the lowest bit of a hash marks its last symbol. */
static int look_through(const struct elf_hash *hash, const struct header *header, __u32 number,
			__u32 wanted, const char *name, Elf64_Sym *ret_symbol)
{
	__u32 one = 0;

	for (; number >= header->first && !(one & 1); number++) {
		if (read_part(hash, &hash->table, hashes_at(header, number), &one, sizeof(one)))
			return -ENOENT;
		if ((one | 1) == (wanted | 1) && !check(hash, number, name, ret_symbol))
			return 0;
	}
	return -ENOENT;
}

/* A symbol that the file defines. 0; -ENOENT: there is none of this name; -EINVAL: it is too long.
 */
static int elf_hash_find(const struct elf_hash *hash, const char *name, Elf64_Sym *ret_symbol)
{
	__u32 wanted = hash_of(name), number;
	struct header header;

	if (strlen(name) >= NAME_MAX_SIZE)
		return -EINVAL;
	if (read_part(hash, &hash->table, 0, &header, sizeof(header)) || !header.buckets ||
	    !header.filters || pass_filter(hash, &header, wanted) ||
	    read_part(hash, &hash->table, buckets_at(&header, wanted % header.buckets), &number,
		      sizeof(number)))
		return -ENOENT;
	return number ? look_through(hash, &header, number, wanted, name, ret_symbol) : -ENOENT;
}

#define SECTION_MAX (512UL << 20) /* a larger one is not read */

struct elf_image {
	const __u8 *data; /* the whole file */
	size_t size;
	bool mapped; /* by us */
	Elf *elf;
	GElf_Ehdr header;
};

static bool is_ours(const struct elf_image *image)
{
	return gelf_getclass(image->elf) == ELFCLASS64 &&
	       image->header.e_ident[EI_DATA] == ELFDATA2LSB;
}

static int read_header(struct elf_image *image)
{
	if (elf_version(EV_CURRENT) == EV_NONE)
		return -ENOTSUP;
	image->elf = elf_memory((char *)image->data, image->size); /* is only read */
	if (!image->elf || elf_kind(image->elf) != ELF_K_ELF ||
	    !gelf_getehdr(image->elf, &image->header) || !is_ours(image))
		return -ENOEXEC;
	return 0;
}

int elf_image_open_bytes(const void *data, size_t size, struct elf_image **ret_image)
{
	_cleanup_elf_image_ struct elf_image *image = calloc(1, sizeof(*image));
	int err;

	if (!image)
		return -ENOMEM;
	image->data = data;
	image->size = size;
	err = read_header(image);
	if (err)
		return err;
	*ret_image = image;
	image = NULL;
	return 0;
}

int elf_image_open(int fd, struct elf_image **ret_image)
{
	struct stat file;
	void *data;
	int err;

	if (fstat(fd, &file))
		return -errno;
	if (file.st_size < (off_t)sizeof(Elf64_Ehdr))
		return -ENOEXEC;
	/* Shared: the kernel writes breakpoints of uprobes into private mappings, even into ours.
	 */
	data = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (data == MAP_FAILED)
		return -errno;
	err = elf_image_open_bytes(data, (size_t)file.st_size, ret_image);
	if (err)
		munmap(data, (size_t)file.st_size);
	else
		(*ret_image)->mapped = true;
	return err;
}

void elf_image_close(struct elf_image *image)
{
	if (!image)
		return;
	elf_end(image->elf);
	if (image->mapped)
		munmap((void *)image->data, image->size);
	free(image);
}

Elf *elf_image_handle(const struct elf_image *image)
{
	return image->elf;
}

unsigned int elf_image_machine(const struct elf_image *image)
{
	return image->header.e_machine;
}

__u64 elf_image_entry(const struct elf_image *image)
{
	return image->header.e_entry;
}

/* The section behind `section` (NULL: the first); NULL: there is none. */
static Elf_Scn *next_section(struct elf_image *image, Elf_Scn *section, GElf_Shdr *ret_header)
{
	while ((section = elf_nextscn(image->elf, section)))
		if (gelf_getshdr(section, ret_header))
			return section;
	return NULL;
}

/*
 * The data of the next section of this type; *section is where to go on. NULL: no more.
 */
static Elf_Data *next_of_type(struct elf_image *image, unsigned int type, Elf_Scn **section,
			      GElf_Shdr *ret_header)
{
	while ((*section = next_section(image, *section, ret_header)))
		if (ret_header->sh_type == type && ret_header->sh_size <= SECTION_MAX)
			return elf_getdata(*section, NULL);
	return NULL;
}

static int contents(Elf_Scn *section, const GElf_Shdr *header, struct elf_section *ret_section)
{
	Elf_Data *data;

	if (header->sh_type == SHT_NOBITS || header->sh_size > SECTION_MAX)
		return -ENOENT;
	data = elf_rawdata(section, NULL);
	if (!data || !data->d_buf)
		return -ENOENT;
	*ret_section = (struct elf_section){
	    .data = data->d_buf, .size = data->d_size, .address = header->sh_addr};
	return 0;
}

int elf_image_section(struct elf_image *image, const char *name, struct elf_section *ret_section)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(image->elf, &names))
		return -ENOENT;
	while ((section = next_section(image, section, &header))) {
		const char *found = elf_strptr(image->elf, names, header.sh_name);

		if (found && !strcmp(found, name))
			return contents(section, &header, ret_section);
	}
	return -ENOENT;
}

/* The part of the file that is loaded at this address. */
static int find_segment(const struct elf_image *image, __u64 address, GElf_Phdr *ret_segment)
{
	for (int i = 0; i < image->header.e_phnum; i++) {
		if (gelf_getphdr(image->elf, i, ret_segment) && ret_segment->p_type == PT_LOAD &&
		    address >= ret_segment->p_vaddr &&
		    address - ret_segment->p_vaddr < ret_segment->p_filesz)
			return 0;
	}
	return -ENOENT;
}

int elf_image_offset(const struct elf_image *image, __u64 address, __u64 *ret_offset)
{
	GElf_Phdr segment;
	int err = find_segment(image, address, &segment);

	if (!err)
		*ret_offset = address - segment.p_vaddr + segment.p_offset;
	return err;
}

int elf_image_address(const struct elf_image *image, __u64 offset, __u64 *ret_address)
{
	GElf_Phdr segment;

	for (int i = 0; i < image->header.e_phnum; i++) {
		if (!gelf_getphdr(image->elf, i, &segment) || segment.p_type != PT_LOAD ||
		    offset < segment.p_offset || offset - segment.p_offset >= segment.p_filesz)
			continue;
		*ret_address = offset - segment.p_offset + segment.p_vaddr;
		return 0;
	}
	return -ENOENT;
}

static bool is_constant(const struct elf_image *image, const GElf_Phdr *segment)
{
	return segment->p_type == PT_LOAD && !(segment->p_flags & PF_W) &&
	       segment->p_offset < image->size;
}

int elf_image_constant(const struct elf_image *image, unsigned int number,
		       struct elf_section *ret_part)
{
	GElf_Phdr segment;
	size_t size;

	for (int i = 0; i < image->header.e_phnum; i++) {
		if (!gelf_getphdr(image->elf, i, &segment) || !is_constant(image, &segment) ||
		    number--)
			continue;
		size = image->size - segment.p_offset;
		*ret_part =
		    (struct elf_section){.data = image->data + segment.p_offset,
					 .size = segment.p_filesz < size ? segment.p_filesz : size,
					 .address = segment.p_vaddr};
		return 0;
	}
	return -ENOENT;
}

int elf_image_each_segment(const struct elf_image *image,
			   int (*visit)(const struct elf_segment *segment, void *data), void *data)
{
	GElf_Phdr header;
	int result = 0;

	for (int i = 0; !result && i < image->header.e_phnum; i++) {
		if (!gelf_getphdr(image->elf, i, &header) || header.p_type != PT_LOAD)
			continue;
		result = visit(&(struct elf_segment){.offset = header.p_offset,
						     .size = header.p_filesz,
						     .address = header.p_vaddr,
						     .executable = header.p_flags & PF_X},
			       data);
	}
	return result;
}

int elf_image_read(const struct elf_image *image, __u64 address, void *to, size_t size)
{
	__u64 offset;
	int err = elf_image_offset(image, address, &offset);

	if (err)
		return err;
	if (offset > image->size || image->size - offset < size)
		return -ENOENT;
	memcpy(to, image->data + offset, size);
	return 0;
}

__u64 elf_image_base(const struct elf_image *image)
{
	__u64 base = ~0ULL;
	GElf_Phdr segment;

	for (int i = 0; i < image->header.e_phnum; i++)
		if (gelf_getphdr(image->elf, i, &segment) && segment.p_type == PT_LOAD &&
		    segment.p_vaddr < base)
			base = segment.p_vaddr;
	return base;
}

int elf_image_tls_size(const struct elf_image *image, __u64 *ret_size)
{
	GElf_Phdr segment;

	for (int i = 0; i < image->header.e_phnum; i++) {
		if (!gelf_getphdr(image->elf, i, &segment) || segment.p_type != PT_TLS)
			continue;
		if (!segment.p_align)
			segment.p_align = 1;
		*ret_size =
		    (segment.p_memsz + segment.p_align - 1) / segment.p_align * segment.p_align;
		return 0;
	}
	return -ENOENT;
}

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

	while ((section = next_section(image, section, &header))) {
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

	while (!result && (section = next_section(image, section, &header)))
		if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM)
			result = visit_functions(image, section, &header, visit, data);
	return result;
}

int elf_image_own_function(struct elf_image *image, const char *name, __u64 *ret_address)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	Elf_Data *data = next_of_type(image, SHT_SYMTAB, &section, &header);
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

	while ((section = next_section(image, section, &header)))
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
	Elf_Data *data = next_of_type(image, SHT_DYNSYM, &section, &header);

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

	while ((table = next_of_type(image, SHT_RELA, &section, ret_section)))
		for (int i = 0; gelf_getrela(table, i, ret_relocation); i++)
			if (ret_relocation->r_offset == where)
				return true;
	return false;
}

int elf_image_relocation(struct elf_image *image, __u64 where, __u64 *ret_address)
{
	GElf_Rela relocation;
	GElf_Shdr section;

	if (!relocation_at(image, where, &relocation, &section))
		return -ENOENT;
	*ret_address = (__u64)relocation.r_addend;
	return 0;
}

static bool is_never_moved(const struct elf_image *image)
{
	return image->header.e_type == ET_EXEC;
}

int elf_image_pointer(struct elf_image *image, __u64 where, __u64 *ret_address)
{
	if (!elf_image_relocation(image, where, ret_address))
		return 0;
	return is_never_moved(image)
		   ? elf_image_read(image, where, ret_address, sizeof(*ret_address))
		   : -ENOENT;
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

	while ((table = next_of_type(image, SHT_RELA, &section, &header)))
		for (int i = 0; gelf_getrela(table, i, &relocation); i++) {
			if (GELF_R_TYPE(relocation.r_info) != type ||
			    !is_named(image, header.sh_link, GELF_R_SYM(relocation.r_info), name))
				continue;
			*ret_where = relocation.r_offset;
			return 0;
		}
	return -ENOENT;
}

/* As elf_image_each_pointer(), for what stands in .data. */
static int each_pointer_in_data(struct elf_image *image, __u64 address,
				int (*visit)(struct elf_image *image, __u64 where, void *data),
				void *data)
{
	struct elf_section section;
	int result = 0;
	__u64 word;

	if (elf_image_section(image, ".data", &section))
		return 0;
	for (size_t at = 0; !result && at + sizeof(word) <= section.size; at += sizeof(word)) {
		memcpy(&word, (const __u8 *)section.data + at, sizeof(word));
		if (word == address)
			result = visit(image, section.address + at, data);
	}
	return result;
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

	while (!result && (table = next_of_type(image, SHT_RELA, &section, &header)))
		for (int i = 0; !result && gelf_getrela(table, i, &relocation); i++)
			if ((__u64)relocation.r_addend == address)
				result = visit(image, relocation.r_offset, data);
	if (!result && is_never_moved(image))
		result = each_pointer_in_data(image, address, visit, data);
	return result;
}
