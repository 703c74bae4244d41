// SPDX-License-Identifier: Apache-2.0
#include <stddef.h>

#include "inspect/process_memory.h"
#include "runtimes/node/code_object.h"
#include "runtimes/node/text.h"

#define TAG  1
#define WORD 8

#define PAGE_SIZE      4096
#define PAGES_MAX      64 /* so far back the beginning of code is looked for */
#define CANDIDATES_MAX 32
#define ALIGNMENT      64 /* of the first instruction */
#define CODE_SIZE_MAX  (1U << 20)
#define LENGTH         8 /* byte of an array */
#define ELEMENTS       16

/*
 * In front of instructions stands an object; since 11.3 it only leads to another one (Code), which
 * leads back, and has the rest. Offsets in bytes. From code.h and code.tq of V8, and what programs
 * of these versions have in memory.
 */
struct layout {
	__u16 stream_type, code_type;
	__u8 header;        /* bytes of the object in front */
	__u8 code;          /* in it: the Code; 0: it is one itself */
	__u8 stream, start; /* in the Code: back to that object, and the first instruction */
	__u8 deopt, size, flags;
	__u8 turbofan; /* the kind of code, as flags have it; Maglev's comes before it */
};
#define FLAGS_KIND    15
#define METADATA_SIZE 4 /* bytes behind `size` */

static const struct layout layouts[NODE_VERSIONS] = {
    [NODE_V8_10_2] = {240, 240, 128, 0, 0, 0, 16, 40, 48, 13},
    [NODE_V8_11_3] = {252, 245, 16, 8, 32, 40, 16, 56, 48, 13},
    [NODE_V8_12_4] = {210, 206, 32, 8, 32, 40, 8, 52, 48, 12},
    [NODE_V8_13_6] = {192, 187, 32, 8, 32, 40, 8, 56, 52, 12},
};

const struct node_deopt *node_deopt_of(enum node_version version)
{
	static const struct node_deopt known[NODE_VERSIONS] = {
	    [NODE_V8_10_2] = {179, 194, 237, 0, 2, 6, 11, false},
	    [NODE_V8_11_3] = {175, 190, 240, 0, 2, 6, 11, false},
	    [NODE_V8_12_4] = {213, 186, 247, 0, 2, 6, 11, false},
	    [NODE_V8_13_6] = {193, 196, 199, 0, 3, 7, 12, true},
	};

	return &known[version];
}

__u32 node_length(int memory, __u64 array, __u16 type)
{
	return node_type(memory, array) == type ? node_word(memory, array, LENGTH) >> 32 : 0;
}

__u64 node_element(int memory, __u64 array, __u16 type, __u32 number)
{
	if (number >= node_length(memory, array, type))
		return 0;
	return node_word(memory, array, ELEMENTS + number * WORD);
}

/* The function whose code it is. */
static __u64 info_of(int memory, const struct node_object *object)
{
	const struct node_deopt *deopt = node_deopt_of(object->version);
	const __u64 info = node_element(memory, object->deopt, deopt->array, deopt->info);

	return deopt->info_is_wrapped ? node_word(memory, info, WORD) : info;
}

/* Fill in what the Code has. Returns whether it is that of these instructions, and optimised. */
static bool read_code(int memory, const struct layout *layout, __u64 code, struct node_object *ret)
{
	const __u64 sizes = node_word(memory, code, layout->size);
	const __u32 kind = (__u32)node_word(memory, code, layout->flags) & FLAGS_KIND;

	if (node_type(memory, code) != layout->code_type)
		return false;
	if (layout->code && (node_word(memory, code, layout->start) != ret->start ||
			     node_word(memory, code, layout->stream) !=
				 ret->start - layout->header + TAG))
		return false;
	_Static_assert(METADATA_SIZE == sizeof(__u32), "one word has both sizes");
	ret->size = (__u32)sizes;
	ret->metadata = sizes >> 32;
	ret->maglev = kind + 1U == layout->turbofan;
	ret->deopt = node_word(memory, code, layout->deopt);
	ret->info = info_of(memory, ret);
	return (ret->maglev || kind == layout->turbofan) && ret->size <= CODE_SIZE_MAX &&
	       ret->metadata <= CODE_SIZE_MAX && ret->info;
}

/* Does an object of instructions begin here, by its first two words? */
static bool begins(int memory, const struct layout *layout, const __u64 words[2])
{
	return (words[0] & 3) == TAG && (words[1] & 3) == TAG &&
	       (__u16)node_word(memory, words[0], 12) == layout->stream_type;
}

/*
 * In one page, the nearest object of instructions in front of `pc`. Returns its address, 0: there
 * is none.
 */
static __u64 find_in_page(int memory, const struct layout *layout, __u64 page, __u64 last,
			  int *candidates)
{
	__u64 words[PAGE_SIZE / WORD];

	if (process_memory_read(memory, page, words, sizeof(words))) {
		*candidates = 0;
		return 0;
	}
	for (__u64 at = last; *candidates && at >= page; at -= ALIGNMENT) {
		const __u64 *found = words + (at - page) / WORD;

		if ((found[0] & 3) != TAG || (found[1] & 3) != TAG)
			continue;
		--*candidates;
		if (begins(memory, layout, found))
			return at;
	}
	return 0;
}

static __u64 find_header(int memory, const struct layout *layout, __u64 pc)
{
	__u64 last = pc / ALIGNMENT * ALIGNMENT - layout->header, page, found = 0;
	int candidates = CANDIDATES_MAX;

	for (int i = 0; !found && candidates && i < PAGES_MAX; i++) {
		page = last / PAGE_SIZE * PAGE_SIZE;
		found = find_in_page(memory, layout, page, last, &candidates);
		/* The last one that begins in the page before. */
		last -= ((last - page) / ALIGNMENT + 1) * ALIGNMENT;
	}
	return found;
}

bool node_object_find(int memory, const struct node_code *code, __u64 pc, struct node_object *ret)
{
	const struct layout *layout;
	__u64 header, object;

	if (!code->version || code->version >= NODE_VERSIONS || pc < PAGE_SIZE * PAGES_MAX)
		return false;
	layout = &layouts[code->version];
	header = find_header(memory, layout, pc);
	if (!header)
		return false;
	*ret = (struct node_object){.version = code->version, .start = header + layout->header};
	object = layout->code ? node_word(memory, header + TAG, layout->code) : header + TAG;
	return read_code(memory, layout, object, ret) && pc - ret->start < ret->size &&
	       node_type(memory, ret->info) == code->info;
}
