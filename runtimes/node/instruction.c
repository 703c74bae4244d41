// SPDX-License-Identifier: Apache-2.0
#include <stdbool.h>
#include <string.h>

#include "runtimes/node/instruction.h"

/* What is behind the code of an operation; the low bits are bytes of a number. */
#define IMMEDIATE(form) ((form) & 15)
#define MODRM           16
#define BAD             128
#define M(bytes)        (MODRM | (bytes))

struct decoder {
	const __u8 *byte;
	size_t size, at;
	bool is_wide, is_short; /* REX.W; 66 */
};

static __u8 peek(const struct decoder *decoder)
{
	return decoder->at < decoder->size ? decoder->byte[decoder->at] : 0;
}

static __u8 take(struct decoder *decoder)
{
	const __u8 byte = peek(decoder);

	decoder->at++;
	return byte;
}

/* Operations of one byte. */
static __u8 form_of(const struct decoder *decoder, __u8 code)
{
	const __u8 word = decoder->is_short ? 2 : 4;

	if (code < 0x40)
		return (code & 7) < 4 ? MODRM : (code & 7) == 4 ? 1 : (code & 7) == 5 ? word : BAD;
	if (code >= 0x50 && code < 0x60)
		return 0;
	if (code >= 0xb8 && code < 0xc0)
		return decoder->is_wide ? 8 : word;
	switch (code) {
	case 0x63:
	case 0x84 ... 0x8b:
	case 0x8d:
	case 0xd1:
	case 0xd3:
	case 0xfe:
	case 0xff:
		return MODRM;
	case 0x69:
	case 0x81:
	case 0xc7:
		return M(word);
	case 0x6b:
	case 0x80:
	case 0x83:
	case 0xc0:
	case 0xc1:
	case 0xc6:
		return M(1);
	case 0x68:
	case 0xa9:
		return word;
	case 0x6a:
	case 0xa8:
		return 1;
	case 0x90:
	case 0x98:
	case 0x99:
		return 0;
	case 0xf6: /* only `test` has a number */
		return peek(decoder) & 0x30 ? MODRM : M(1);
	case 0xf7:
		return peek(decoder) & 0x30 ? MODRM : M(word);
	default:
		return BAD;
	}
}

/* Those of two bytes, or of the first map of VEX. */
static __u8 form_of_0f(__u8 code)
{
	switch (code) {
	case 0x70 ... 0x73:
	case 0xa4:
	case 0xac:
	case 0xc2:
	case 0xc4 ... 0xc6:
		return M(1);
	case 0x10 ... 0x1f:
	case 0x28 ... 0x2f:
	case 0x40 ... 0x6f:
	case 0x74 ... 0x76:
	case 0x7c ... 0x7f:
	case 0x90 ... 0x9f:
	case 0xa3:
	case 0xa5:
	case 0xab:
	case 0xad:
	case 0xae ... 0xb1:
	case 0xb3:
	case 0xb6 ... 0xb8:
	case 0xbb ... 0xc1:
	case 0xd0 ... 0xfe:
		return MODRM;
	default:
		return BAD;
	}
}

/* Of a map: 1 is that of 0f, 2 that of 0f 38, 3 that of 0f 3a. */
static __u8 form_in(__u8 map, __u8 code)
{
	return map == 1 ? form_of_0f(code) : map == 2 ? MODRM : map == 3 ? M(1) : BAD;
}

/* The operand, without a number behind it. */
static void skip_operand(struct decoder *decoder)
{
	const __u8 modrm = take(decoder), mode = modrm >> 6;
	__u8 base = modrm & 7;

	if (mode == 3)
		return;
	if (base == 4)
		base = take(decoder) & 7;
	else if (base == 5 && !mode) /* from the next instruction */
		decoder->at += 4;
	if (mode == 1)
		decoder->at += 1;
	else if (mode == 2 || ((modrm & 7) == 4 && base == 5 && !mode))
		decoder->at += 4;
}

static __s32 take_target(struct decoder *decoder, bool is_near)
{
	__s32 target = (__s8)peek(decoder);

	if (is_near && decoder->at + sizeof(target) <= decoder->size)
		memcpy(&target, decoder->byte + decoder->at, sizeof(target));
	decoder->at += is_near ? sizeof(target) : 1;
	return target;
}

static __u8 take_prefixes(struct decoder *decoder)
{
	__u8 code;

	for (code = take(decoder); code == 0x66 || code == 0xf2 || code == 0xf3;
	     code = take(decoder))
		decoder->is_short |= code == 0x66;
	if ((code & 0xf0) == 0x40) {
		decoder->is_wide = code & 8;
		code = take(decoder);
	}
	return code;
}

/* Operations of VEX have their map in the prefix. */
static __u8 take_vex(struct decoder *decoder, __u8 code)
{
	__u8 map = 1;

	if (code == 0xc4)
		map = take(decoder) & 31;
	take(decoder);
	return form_in(map, take(decoder));
}

static __u8 take_0f(struct decoder *decoder, struct node_instruction *ret)
{
	const __u8 code = take(decoder);

	if ((code & 0xf0) == 0x80) {
		*ret = (struct node_instruction){.kind = NODE_INSTRUCTION_BRANCH,
						 .target = take_target(decoder, true)};
		return 0;
	}
	if (code == 0x38 || code == 0x3a)
		return form_in(code == 0x38 ? 2 : 3, take(decoder));
	return form_of_0f(code);
}

/* Jumps and calls. Returns whether it is one. */
static bool take_way(struct decoder *decoder, __u8 code, struct node_instruction *ret)
{
	if (code == 0xe8)
		ret->kind = NODE_INSTRUCTION_CALL;
	else if (code == 0xe9 || code == 0xeb)
		ret->kind = NODE_INSTRUCTION_JUMP;
	else if ((code & 0xf0) == 0x70)
		ret->kind = NODE_INSTRUCTION_BRANCH;
	else
		return false;
	ret->target = take_target(decoder, code == 0xe8 || code == 0xe9);
	return true;
}

static __u8 take_one(struct decoder *decoder, struct node_instruction *ret)
{
	const __u8 code = take_prefixes(decoder);
	const __u8 operation = peek(decoder) >> 3 & 7;

	if (take_way(decoder, code, ret))
		return 0;
	if (code == 0x0f)
		return take_0f(decoder, ret);
	if (code == 0xc4 || code == 0xc5)
		return take_vex(decoder, code);
	if (code == 0xff && operation == 2)
		ret->kind = NODE_INSTRUCTION_CALL;
	else if (code == 0xff && operation > 2 && operation < 6)
		return BAD;
	return form_of(decoder, code);
}

int node_instruction_read(const __u8 *bytes, size_t size, struct node_instruction *ret)
{
	struct decoder decoder = {.byte = bytes, .size = size};
	__u8 form;

	*ret = (struct node_instruction){};
	form = take_one(&decoder, ret);
	if (form & BAD)
		return 0;
	if (form & MODRM)
		skip_operand(&decoder);
	decoder.at += IMMEDIATE(form);
	ret->length = (__u32)decoder.at;
	return decoder.at <= size;
}
