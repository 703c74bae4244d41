/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An executable file: its sections, and what stands at its addresses. 64 bits, little endian.
 *
 * The file is mapped. If somebody truncates it meanwhile, SIGBUS ends the process: files of other
 * users may be opened in a sandbox only (inspect/sandbox.h).
 */
#ifndef CTXPROP_ELF_IMAGE_H
#define CTXPROP_ELF_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

struct elf_image;

/* Open the file behind a descriptor, which may then be closed. 0, -ENOEXEC, or -errno. */
int elf_image_open(int fd, struct elf_image **ret_image);

/* The same for a file whose bytes are in memory, which must stay there. */
int elf_image_open_bytes(const void *data, size_t size, struct elf_image **ret_image);

void elf_image_close(struct elf_image *image);

static inline void cleanup_elf_image(struct elf_image **image)
{
	elf_image_close(*image);
}

#define _cleanup_elf_image_ __attribute__((cleanup(cleanup_elf_image)))

/*
 * The handle of libelf, for readers that need more than these functions; it lives as long as the
 * image.
 */
struct Elf *elf_image_handle(const struct elf_image *image);

/* What processor it is for: EM_... */
unsigned int elf_image_machine(const struct elf_image *image);

/* The address at which the program begins, as the file has it. */
__u64 elf_image_entry(const struct elf_image *image);

/* A section's contents, valid while the image is open. */
struct elf_section {
	const __u8 *data;
	size_t size;
	__u64 address;
};

/* 0, or -ENOENT. */
int elf_image_section(struct elf_image *image, const char *name, struct elf_section *ret_section);

/*
 * The value of a symbol that other files can link with (.dynsym): an address, or an offset in
 * thread-local storage. 0, or -ENOENT.
 */
int elf_image_symbol(struct elf_image *image, const char *name, __u64 *ret_address);

/* The address of a function of this name, among all symbols that the file has. 0, or -ENOENT. */
int elf_image_own_function(struct elf_image *image, const char *name, __u64 *ret_address);

/* The addresses of such a function: its first, and the one behind its last. */
int elf_image_symbol_range(struct elf_image *image, const char *name, __u64 *ret_start,
			   __u64 *ret_end);

/*
 * Number `number`, from 0 on, of the read-only segments that are loaded, as far as it is in the
 * file. 0; -ENOENT: there are fewer.
 */
int elf_image_constant(const struct elf_image *image, unsigned int number,
		       struct elf_section *ret_part);

/* The lowest address of the segments that are loaded. */
__u64 elf_image_base(const struct elf_image *image);

/*
 * The size of the program's own thread-local storage, which ends at the thread pointer (x86-64). 0,
 * or -ENOENT when it has none.
 */
int elf_image_tls_size(const struct elf_image *image, __u64 *ret_size);

/* The offset in the file of the byte at an address. 0, or -ENOENT when it is not from the file. */
int elf_image_offset(const struct elf_image *image, __u64 address, __u64 *ret_offset);

/* The address of the byte at an offset in the file. 0, or -ENOENT. */
int elf_image_address(const struct elf_image *image, __u64 offset, __u64 *ret_address);

/*
 * The function that an address is in, by the symbols of the file. The name belongs to the image. 0,
 * or -ENOENT.
 */
int elf_image_function(struct elf_image *image, __u64 address, const char **ret_name,
		       __u64 *ret_start);

struct elf_function_symbol {
	const char *name; /* the image's */
	__u64 start, size;
};

/*
 * Call `visit` for each function that a symbol of the file names, until it returns other than 0.
 * Returns what it has returned last.
 */
int elf_image_each_function(struct elf_image *image,
			    int (*visit)(const struct elf_function_symbol *function, void *data),
			    void *data);

/* A part of the file that is loaded. */
struct elf_segment {
	__u64 offset, size; /* in the file */
	__u64 address;
	bool executable;
};

/* As elf_image_each_function(), for each part that is loaded. */
int elf_image_each_segment(const struct elf_image *image,
			   int (*visit)(const struct elf_segment *segment, void *data), void *data);

/* Copy what stands at an address. 0, -ENOENT, or -errno. */
int elf_image_read(const struct elf_image *image, __u64 address, void *to, size_t size);

/* The address that a relocation will store at `where`. 0, or -ENOENT when there is none. */
int elf_image_relocation(struct elf_image *image, __u64 where, __u64 *ret_address);

/*
 * The same, or in a program that is never moved (ET_EXEC), and needs none, what stands there. 0,
 * -ENOENT, or -errno.
 */
int elf_image_pointer(struct elf_image *image, __u64 where, __u64 *ret_address);

/* Will a relocation store the address of this symbol, of another file, at `where`? */
bool elf_image_is_linked(struct elf_image *image, __u64 where, const char *name);

/* Will a relocation of this type store something of the file's own at `where`? */
bool elf_image_has_relocation(struct elf_image *image, unsigned int type, __u64 where);

/* Where a relocation of this type will store something of this symbol. 0, or -ENOENT. */
int elf_image_named_relocation(struct elf_image *image, unsigned int type, const char *name,
			       __u64 *ret_where);

/*
 * Call `visit` for every place that relocations will point at `address`, or that does so in .data
 * of a program that is never moved, until it returns other than 0. Returns what it has returned
 * last.
 */
int elf_image_each_pointer(struct elf_image *image, __u64 address,
			   int (*visit)(struct elf_image *image, __u64 where, void *data),
			   void *data);

#endif
