// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "inspect/confined.h"
#include "inspect/elf_image.h"
#include "profile/names/code_file.h"
#include "profile/unwind/eh_frame.h"

/* Addresses that have the same function, or none. */
struct symbol_range {
	const char *name; /* NULL: no symbol has these bytes */
	__u64 start, end; /* from the first to behind the last */
};

struct symbols {
	struct elf_function_symbol *symbol; /* by their start */
	size_t count;
};

static int add(const struct elf_function_symbol *function, void *data)
{
	struct symbols *symbols = data;
	struct elf_function_symbol *list =
	    list_add(&symbols->symbol, &symbols->count, sizeof(*list));

	if (!list)
		return -ENOMEM;
	*list = *function;
	return 0;
}

/* Sorted by start, and for the same start the longest first, as others may be parts of it. */
static int compare(const void *a, const void *b)
{
	const struct elf_function_symbol *first = a, *second = b;

	if (first->start != second->start)
		return first->start < second->start ? -1 : 1;
	return (first->size < second->size) - (first->size > second->size);
}

static void symbols_free(struct symbols *symbols)
{
	if (symbols)
		free(symbols->symbol);
	free(symbols);
}

/* Valid while the image is open. 0 or -ENOMEM. */
static int symbols_new(struct elf_image *image, struct symbols **ret_symbols)
{
	struct symbols *symbols = calloc(1, sizeof(*symbols));
	int err = symbols ? elf_image_each_function(image, add, symbols) : -ENOMEM;

	if (err) {
		symbols_free(symbols);
		return err;
	}
	if (symbols->count)
		qsort(symbols->symbol, symbols->count, sizeof(symbols->symbol[0]), compare);
	*ret_symbols = symbols;
	return 0;
}

static bool begins_until(const void *entry, const void *key)
{
	return ((const struct elf_function_symbol *)entry)->start <= *(const __u64 *)key;
}

/* What the sizes of symbols say about a byte. */
static struct symbol_range symbols_find(const struct symbols *symbols, __u64 address)
{
	size_t at = list_count_while(symbols->symbol, symbols->count, sizeof(*symbols->symbol),
				     begins_until, &address);
	const __u64 next = at < symbols->count ? symbols->symbol[at].start : ~0ULL;
	const struct elf_function_symbol *symbol;
	__u64 end;

	if (!at)
		return (struct symbol_range){NULL, 0, next};
	/* The first one of this start is the longest. */
	for (at--; at && symbols->symbol[at - 1].start == symbols->symbol[at].start;)
		at--;
	symbol = &symbols->symbol[at];
	if (address - symbol->start >= symbol->size)
		return (struct symbol_range){NULL, symbol->start + symbol->size, next};
	end = symbol->size < next - symbol->start ? symbol->start + symbol->size : next;
	return (struct symbol_range){symbol->name, symbol->start, end};
}

#define PAGE_BYTES 4096
#define FILE_BYTES (sizeof(struct code_file) + CODE_ROWS_MAX * sizeof(struct profile_row))

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#else
#define MACHINE EM_NONE
#endif

static int add_segment(const struct elf_segment *segment, void *data)
{
	struct code_layout *layout = data;

	if (!segment->executable)
		return 0;
	layout->segment[layout->segment_count++] =
	    (struct code_segment){segment->offset, segment->size, segment->address};
	return layout->segment_count == CODE_SEGMENTS_MAX;
}

static void read_layout(struct elf_image *image, struct code_layout *layout)
{
	struct elf_section section;
	__u64 size;

	layout->base = elf_image_base(image);
	elf_image_each_segment(image, add_segment, layout);
	layout->frame_pointers = !elf_image_section(image, ".gopclntab", &section) ||
				 !elf_image_section(image, ".data.rel.ro.gopclntab", &section);
	layout->has_threads = layout->frame_pointers || !elf_image_tls_size(image, &size);
}

static void read_rows(struct elf_image *image, struct code_file *file)
{
	struct elf_section section;
	struct eh_frame frames;
	long rows;

	if (MACHINE != EM_X86_64 || elf_image_section(image, ".eh_frame", &section))
		return;
	frames = (struct eh_frame){section.data, section.size, section.address};
	rows = eh_frame_rows(&frames, file->layout.base, file->row, CODE_ROWS_MAX);
	file->row_count = rows > 0 ? (__u32)rows : 0;
}

static int read_file(struct elf_image *image, void *shared)
{
	struct code_file *file = shared;

	if (elf_image_machine(image) != MACHINE)
		return -ENOEXEC;
	read_layout(image, &file->layout);
	if (!file->layout.frame_pointers)
		read_rows(image, file);
	return 0;
}

/* The sandbox may have been taken over by what it has read. */
static bool is_sound(const struct code_file *file)
{
	return file->row_count <= CODE_ROWS_MAX && file->layout.segment_count <= CODE_SEGMENTS_MAX;
}

int code_file_read(int fd, struct code_file **ret_file)
{
	struct code_file *file = confined_alloc(FILE_BYTES);
	int err = file ? confined_run(fd, read_file, file) : -ENOMEM;

	if (!err && !is_sound(file))
		err = -ENOEXEC;
	if (err)
		confined_free(file, FILE_BYTES);
	else
		*ret_file = file;
	return err;
}

void code_file_free(struct code_file *file)
{
	confined_free(file, FILE_BYTES);
}

int code_layout_address(const struct code_layout *layout, __u64 offset, __u64 *ret_address)
{
	for (__u32 i = 0; i < layout->segment_count; i++) {
		const struct code_segment *segment = &layout->segment[i];

		/* The kernel maps whole pages, so a mapping may begin before its segment. */
		if (offset + PAGE_BYTES > segment->offset &&
		    offset < segment->offset + segment->size) {
			*ret_address = segment->address + (offset - segment->offset) - layout->base;
			return 0;
		}
	}
	return -ENOENT;
}

/* Without room for its name nothing is known of the function. */
static void set_name(struct code_names *names, __u32 i, const char *name)
{
	size_t size = strlen(name) + 1;

	if (size > CODE_TEXT_BYTES - names->text_size) {
		names->start[i] = names->end[i] = 0;
		return;
	}
	names->name[i] = names->text_size;
	memcpy(names->text + names->text_size, name, size);
	names->text_size += (__u32)size;
}

/* As an address that is counted from the base on. */
static __u32 from_base(const struct code_names *names, __u64 address)
{
	const __u64 distance = address > names->base ? address - names->base : 0;

	return distance > UINT32_MAX ? UINT32_MAX : (__u32)distance;
}

static int read_names(struct elf_image *image, void *shared)
{
	struct code_names *names = shared;
	const char *before = NULL;
	struct symbols *symbols;

	if (symbols_new(image, &symbols))
		return -ENOMEM;
	names->base = elf_image_base(image);
	names->text_size = 1;
	for (__u32 i = 0; i < names->count; i++) {
		const struct symbol_range range =
		    symbols_find(symbols, names->base + names->address[i]);

		names->start[i] = from_base(names, range.start);
		names->end[i] = from_base(names, range.end);
		if (range.name && range.name == before)
			names->name[i] = names->name[i - 1];
		else if (range.name)
			set_name(names, i, range.name);
		before = range.name;
	}
	symbols_free(symbols);
	return 0;
}

struct code_names *code_names_new(void)
{
	return confined_alloc(sizeof(struct code_names));
}

void code_names_free(struct code_names *names)
{
	confined_free(names, sizeof(*names));
}

int code_names_read(int fd, struct code_names *names)
{
	int err = confined_run(fd, read_names, names);

	names->text[CODE_TEXT_BYTES - 1] = '\0';
	return err;
}

const char *code_names_get(const struct code_names *names, __u32 i)
{
	__u32 at = names->name[i];

	return at && at < CODE_TEXT_BYTES ? names->text + at : NULL;
}

/* The sandbox may have been taken over by what it has read. */
void code_names_range(const struct code_names *names, __u32 i, __u32 *ret_start, __u32 *ret_end)
{
	const __u32 address = names->address[i], start = names->start[i], end = names->end[i];
	const bool is_sound = start <= address && address < end;

	*ret_start = is_sound ? start : address;
	*ret_end = is_sound ? end : address + 1;
}
