// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "inspect/elf_image.h"
#include "inspect/elf_image_inside.h"

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

Elf_Scn *elf_image_next(struct elf_image *image, Elf_Scn *section, GElf_Shdr *ret_header)
{
	while ((section = elf_nextscn(image->elf, section)))
		if (gelf_getshdr(section, ret_header))
			return section;
	return NULL;
}

Elf_Data *elf_image_next_of_type(struct elf_image *image, unsigned int type, Elf_Scn **section,
				 GElf_Shdr *ret_header)
{
	while ((*section = elf_image_next(image, *section, ret_header)))
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
	while ((section = elf_image_next(image, section, &header))) {
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
