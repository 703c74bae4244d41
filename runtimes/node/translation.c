// SPDX-License-Identifier: Apache-2.0
#include <stdbool.h>

#include "inspect/process_memory.h"
#include "runtimes/node/translation.h"

/*
 * A translation (translation-opcode.h): operations of one byte, with numbers behind them. The first
 * one begins, and says how many frames there are; then come frames, the outermost first, each with
 * its values. Since 11.3 operations may be left out that an earlier translation has at that place:
 * how many, and how far back that one is. What an operation is, by its number:
 */
#define NUMBERS(op) ((op) & 7) /* that are behind it */
#define FRAME       8
#define OF_FUNCTION 16 /* a frame that has a function, by its literal: the second number */
#define BEGINS      32
#define AS_BEFORE   64  /* so many operations stand in the earlier one */
#define UNKNOWN     128 /* tried with no program */
#define BUILTIN     256 /* the frame goes on with a function of V8's own */

#define JS(numbers) (FRAME | OF_FUNCTION | (numbers))
#define B(numbers)  (JS(numbers) | BUILTIN)
#define F(numbers)  (FRAME | (numbers))
#define BEGIN       (BEGINS | 3)
#define MATCH       (AS_BEFORE | 1)

static const __u16 ops_10_2[] = {F(2), 1, 0, BEGIN, 1, 1, F(3),  1,	 F(3),		   1,
				1,    1, 1, 1,	   1, 1, 1,	1,	 JS(5),		   B(3),
				B(3), F(4) | UNKNOWN, 1, 1, 1, 1, 1, 2};
static const __u16 ops_11_3[] = {
    1, 0, BEGIN, BEGIN, 1,     1,     F(3),  1,	    F(3),	    1, 1, 1,
    1, 1, F(2),	 1,	1,     1,     1,     1,	    1,		    1, 1, JS(5),
    JS(3), B(3), B(3), F(4) | UNKNOWN, 0, 1, 1, 1, 1, 1, 2, MATCH};
static const __u16 ops_12_4[] = {JS(5), JS(3), B(3), B(3), F(2), F(1), F(3), F(4) | UNKNOWN,
				F(3) | UNKNOWN, F(2), 1, 0, BEGIN, BEGIN, 1, 1, 1, 1, 1, 1, 1, 1,
				1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 2, MATCH};
static const __u16 ops_13_6[] = {JS(6), JS(4), B(3), B(3), F(2), F(1), F(3), F(4) | UNKNOWN,
				F(3) | UNKNOWN, F(3) | UNKNOWN, F(3), 1, 0, 0, BEGIN, BEGIN, 1, 1,
				1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1,
				1, 1, 2, MATCH};

#define COUNT(ops) (sizeof(ops) / sizeof((ops)[0]))
_Static_assert(COUNT(ops_10_2) == 28 && COUNT(ops_11_3) == 36 && COUNT(ops_12_4) == 40 &&
		       COUNT(ops_13_6) == 45,
	       "as many as V8 has");

static const struct {
	const __u16 *op;
	__u32 count;
} known[NODE_VERSIONS] = {
    [NODE_V8_10_2] = {ops_10_2, COUNT(ops_10_2)},
    [NODE_V8_11_3] = {ops_11_3, COUNT(ops_11_3)},
    [NODE_V8_12_4] = {ops_12_4, COUNT(ops_12_4)},
    [NODE_V8_13_6] = {ops_13_6, COUNT(ops_13_6)},
};

#define ELEMENTS     16 /* byte of an array */
#define BYTES_MAX    2048
#define OPS_MAX      2048
#define NUMBERS_MAX  7
#define NUMBER_BYTES 5

/* Bytes of translations, from one on. */
struct reader {
	__u8 bytes[BYTES_MAX];
	__u32 size, at;
	bool fails;
};

struct op {
	__u16 op; /* see above */
	__u32 number[NUMBERS_MAX];
};

struct translation {
	enum node_version version;
	struct reader own, before; /* `before`: the earlier one */
	bool has_before, ends;
	__u32 own_ops, before_ops; /* that were read, with the first one */
	__u32 left;                /* operations that are to be read of the earlier one */
};

static bool open_reader(int memory, __u64 array, __u32 length, __u32 from, struct reader *ret)
{
	ret->size = length - from < BYTES_MAX ? length - from : BYTES_MAX;
	ret->at = 0;
	ret->fails = from >= length || process_memory_read(memory, array - 1 + ELEMENTS + from,
							    ret->bytes, ret->size);
	return !ret->fails;
}

static __u32 next_number(struct reader *reader)
{
	__u32 number = 0;

	for (int i = 0; i < NUMBER_BYTES && reader->at < reader->size; i++) {
		const __u8 byte = reader->bytes[reader->at++];

		number |= (__u32)(byte & 127) << (7 * i);
		if (!(byte & 128))
			return number;
	}
	reader->fails = true;
	return 0;
}

/* In 10.2 operations are numbers with a sign, too. */
static __u32 next_code(const struct translation *translation, struct reader *reader)
{
	if (translation->version == NODE_V8_10_2)
		return next_number(reader) >> 1;
	if (reader->at < reader->size)
		return reader->bytes[reader->at++];
	reader->fails = true;
	return 0;
}

/* The next operation as it stands there. Returns whether it is one. */
static bool next_in(const struct translation *translation, struct reader *reader, struct op *ret)
{
	const __u32 count = known[translation->version].count;
	const __u32 code = next_code(translation, reader);

	if (code >= count && translation->version != NODE_V8_10_2) {
		*ret = (struct op){AS_BEFORE, {code - count}};
		return !reader->fails;
	}
	if (code >= count || known[translation->version].op[code] & UNKNOWN)
		return false;
	*ret = (struct op){known[translation->version].op[code], {}};
	for (__u32 i = 0; i < NUMBERS(ret->op); i++)
		ret->number[i] = next_number(reader);
	return !reader->fails;
}

/* An operation of the earlier translation, which has all of them. */
static bool next_before(struct translation *translation, struct op *ret)
{
	translation->before_ops++;
	return translation->has_before && next_in(translation, &translation->before, ret) &&
	       !(ret->op & (BEGINS | AS_BEFORE));
}

/*
 * The next operation, wherever it stands. Returns whether it is one; at the end of the translation
 * there is none, and `ends` is set.
 */
static bool next(struct translation *translation, struct op *ret)
{
	if (!translation->left) {
		if (translation->own.at == translation->own.size) {
			translation->ends = translation->own.size < BYTES_MAX;
			return false;
		}
		if (!next_in(translation, &translation->own, ret))
			return false;
		translation->ends = ret->op & BEGINS;
		if (translation->ends)
			return false;
		if (!(ret->op & AS_BEFORE)) {
			translation->own_ops++;
			return true;
		}
		translation->left = ret->number[0];
		while (translation->before_ops < translation->own_ops)
			if (!next_before(translation, ret))
				return false;
	}
	if (!translation->left)
		return false;
	translation->left--;
	translation->own_ops++;
	return next_before(translation, ret);
}

/* Since 11.3 how far back the earlier one is comes first. */
static bool open_before(int memory, __u64 array, __u32 length, __u32 from, __u32 back,
			struct translation *translation)
{
	struct op first;

	if (!back)
		return true;
	if (back > from ||
	    !open_reader(memory, array, length, from - back, &translation->before) ||
	    !next_in(translation, &translation->before, &first) || !(first.op & BEGINS) ||
	    first.number[0])
		return false;
	translation->before_ops = 1;
	translation->has_before = true;
	return true;
}

/*
 * Frames of a translation that has begun. Returns how many have a function, by their literals. (Of
 * what goes on with one of V8's own functions, Maglev names the function that it is put into.)
 */
static size_t read_frames(struct translation *translation, __u32 frames, __u32 functions,
			  __u32 ret_literals[NODE_FRAMES_MAX])
{
	__u32 count = 0, all = 0, seen = 0, literal;
	struct op op;

	for (__u32 i = 0; i < OPS_MAX && next(translation, &op); i++) {
		all += op.op & FRAME ? 1 : 0;
		if (!(op.op & OF_FUNCTION))
			continue;
		if (count == NODE_FRAMES_MAX || op.number[1] & 1)
			return 0;
		seen++;
		literal = op.number[1] >> 1;
		if (!(op.op & BUILTIN) || !count || ret_literals[count - 1] != literal)
			ret_literals[count++] = literal;
	}
	return translation->ends && all == frames && seen == functions ? count : 0;
}

static size_t read_translation(int memory, __u64 array, __u32 length, __u32 from,
			       struct translation *translation,
			       __u32 ret_literals[NODE_FRAMES_MAX])
{
	const bool is_old = translation->version == NODE_V8_10_2;
	struct op first;

	if (!open_reader(memory, array, length, from, &translation->own) ||
	    !next_in(translation, &translation->own, &first) || !(first.op & BEGINS))
		return 0;
	translation->own_ops = 1;
	if (!is_old && !open_before(memory, array, length, from, first.number[0], translation))
		return 0;
	/* Numbers with a sign. */
	return read_frames(translation, first.number[is_old ? 0 : 1] >> 1,
			   first.number[is_old ? 1 : 2] >> 1, ret_literals);
}

size_t node_translation_read(int memory, const struct node_object *object, int point,
			     __u64 ret_infos[NODE_FRAMES_MAX])
{
	const struct node_deopt *deopt = node_deopt_of(object->version);
	const __u64 array =
	    node_element(memory, object->deopt, deopt->array, deopt->translations);
	const __u64 literals =
	    node_element(memory, object->deopt, deopt->array, deopt->literal_array);
	/* Of each point: a place in the bytecode, one among translations, and one in the code. */
	const __u32 from = node_element(memory, object->deopt, deopt->array,
					deopt->points + 3U * (__u32)point + 1) >>
			   32;
	struct translation translation = {.version = object->version};
	__u32 literal[NODE_FRAMES_MAX];
	size_t count;

	count = read_translation(memory, array, node_length(memory, array, deopt->bytes), from,
				 &translation, literal);
	for (size_t i = 0; i < count; i++)
		ret_infos[i] = node_element(memory, literals, deopt->literals, literal[i]);
	return count && ret_infos[0] == object->info ? count : 0;
}
