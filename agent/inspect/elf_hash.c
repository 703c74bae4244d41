// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>

#include "inspect/elf_hash.h"

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

int elf_hash_find(const struct elf_hash *hash, const char *name, Elf64_Sym *ret_symbol)
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
