/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where code of V8's interpreter takes a method of what a variable is that was there before it ran:
 *
 *	LdaImmutableCurrentContextSlot [slot]; Star object; GetNamedProperty object, [name], [..];
 *	Star method
 *
 * The numbers of these differ between V8 10.2, 11.3, 12.4 and 13.6, but all code ends with Return,
 * and those of Star are so many behind that. A register is named in one way by Star, and in another
 * as an operand, which must agree.
 */
#ifndef CTXPROP_RUNTIMES_NODE_V8_METHOD_BPF_H
#define CTXPROP_RUNTIMES_NODE_V8_METHOD_BPF_H

#include "runtimes/node/v8.bpf.h"

#define V8_CODE_MAX        256 /* bytes that are looked at; a power of two */
#define V8_CODE_LENGTH_MAX 65536

/* Numbers of the interpreter's. */
enum v8_code_number {
	V8_LOADS_FIRST = 0x14, /* variables' */
	V8_LOADS_LAST = 0x19,
	V8_GETS_FIRST = 0x2d, /* GetNamedProperty */
	V8_GETS_LAST = 0x33,
	V8_STAR_0 = 0x1b, /* behind that of Return: for register 0; others stand before it */
	V8_STARS = 16,    /* so many registers have one of their own */
	V8_STAR_WIDE_FIRST = 0x18, /* for any register */
	V8_STAR_WIDE_LAST = 0x1a,
	V8_THROW_IF_HOLE = 1, /* behind that of Return: the variable has to have a value */
	V8_LOOP = 0x20,       /* before that of Return, or one more: back to what stood before */
	V8_CLOSURE = 0x29,    /* the same: a function is made; and the last operand of that */
	V8_CLOSURE_FLAGS = 3,
	V8_UNDEFINED = 0x0e,
	V8_REGISTER_0 = 0xfa, /* as an operand; since V8 12 one less */
	V8_CURRENT_CONTEXT = 0xff,
};

/* A method that is taken. Registers as operands. */
struct v8_method {
	__u8 slot;
	__u8 up;     /* contexts around the one that is named */
	__u8 from;   /* which is in this register; V8_CURRENT_CONTEXT */
	__u8 object; /* 0: none */
	__u8 method; /* 0: not known */
	__u8 name;
	__u8 register_0; /* 0: not known */
	__u8 loaded;     /* 1: the object is a variable (`slot`) */
};

/* Code that is looked at. */
struct v8_code {
	__u64 start;   /* of what is in `byte` */
	__u64 pool;    /* the names that it uses */
	__u64 context; /* that it is in */
	__u64 saved;   /* registers of an async function; 0: it has not begun */
	__u64 object;  /* whose method was taken last, if it may be a response */
	__u64 other;   /* another one, whose was before */
	__u32 length;
	__u32 at;    /* the next byte to look at */
	__u8 last;   /* Return */
	__u8 before; /* words that are saved before the registers */
	__u8 loops;  /* 1: what stands before it may come again */
	__u8 makes;  /* 1: it makes functions */
	__u8 unsure; /* 1: there are objects of unknown origin */
	__u8 reserved[3];
	struct v8_method found;  /* now */
	struct v8_method root;   /* the first one of `object` */
	struct v8_method method; /* the last one of `object` */
	__u8 byte[V8_CODE_MAX];
};

static __always_inline __u8 v8_code_byte(const struct v8_code *code, __u32 at)
{
	return code->byte[at & (V8_CODE_MAX - 1)];
}

/* Is a register set here, and then a property of its object taken? Returns where that is taken. */
static __always_inline __u32 v8_takes(const struct v8_code *code, __u32 at, struct v8_method *ret)
{
	__u8 star_0 = code->last + V8_STAR_0, star = v8_code_byte(code, at);
	__u8 number = star_0 - star;
	__u32 get;

	if (number < V8_STARS) {
		get = at + 1;
		ret->object = v8_code_byte(code, get + 1);
		ret->register_0 = ret->object + number;
		if (ret->register_0 != V8_REGISTER_0 && ret->register_0 != V8_REGISTER_0 - 1)
			return 0;
	} else if (star >= V8_STAR_WIDE_FIRST && star <= V8_STAR_WIDE_LAST) {
		get = at + 2;
		ret->object = v8_code_byte(code, at + 1);
		ret->register_0 = 0;
		if (ret->object != v8_code_byte(code, get + 1))
			return 0;
	} else {
		return 0;
	}
	star = v8_code_byte(code, get);
	return star >= V8_GETS_FIRST && star <= V8_GETS_LAST ? get : 0;
}

/* Which variable is it that was taken before? */
static __always_inline void v8_loads(const struct v8_code *code, __u32 at, struct v8_method *ret)
{
	__u8 load;

	if (v8_code_byte(code, at - 2) == (__u8)(code->last + V8_THROW_IF_HOLE))
		at -= 2;
	load = v8_code_byte(code, at - 2);
	if (load >= V8_LOADS_FIRST && load <= V8_LOADS_LAST) {
		ret->slot = v8_code_byte(code, at - 1);
		ret->from = V8_CURRENT_CONTEXT;
		ret->up = 0;
		ret->loaded = 1;
		return;
	}
	load = v8_code_byte(code, at - 4);
	ret->loaded = load >= V8_LOADS_FIRST && load <= V8_LOADS_LAST;
	ret->from = v8_code_byte(code, at - 3);
	ret->slot = v8_code_byte(code, at - 2);
	ret->up = v8_code_byte(code, at - 1);
}

/* Is a method taken at `at`, which `code->found` is then? */
VERIFIED_ALONE int v8_find_method(struct v8_code *code, __u32 at)
{
	struct v8_method *found;
	__u8 number;
	__u32 get;

	if (!code)
		return 0;
	found = &code->found;
	get = v8_takes(code, at, found);
	if (!get)
		return 0;
	found->name = v8_code_byte(code, get + 2);
	number = code->last + V8_STAR_0 - v8_code_byte(code, get + 4);
	found->method = found->register_0 && number < V8_STARS ? found->register_0 - number : 0;
	v8_loads(code, at, found);
	return 1;
}

/* Does a call of the method stand before `end`? */
VERIFIED_ALONE int v8_is_called(const struct v8_code *code, __u32 end)
{
	if (!code || !code->method.method)
		return 0;
#pragma clang loop unroll(full)
	for (__u32 bytes = 4; bytes <= 6; bytes++)
		if (v8_code_byte(code, end - bytes + 1) == code->method.method &&
		    v8_code_byte(code, end - bytes + 2) == code->method.object)
			return 1;
	return 0;
}

/* Does it begin with the variable that a method was taken of? */
static __always_inline int v8_begins_with(const struct v8_code *code, const struct v8_method *root)
{
	__u8 load = v8_code_byte(code, 0);
	__u32 at = root->from == V8_CURRENT_CONTEXT && !root->up ? 1 : 2;

	return load >= V8_LOADS_FIRST && load <= V8_LOADS_LAST &&
	       v8_code_byte(code, at) == root->slot;
}

/* Does it make a function here? */
static __always_inline int v8_code_makes(const struct v8_code *code, __u32 at)
{
	__u8 number = code->last - V8_CLOSURE - v8_code_byte(code, at);

	return number <= 1 && v8_code_byte(code, at + 3) <= V8_CLOSURE_FLAGS;
}

/* Does it end with that call? */
static __always_inline int v8_ends_with_method(const struct v8_code *code)
{
	__u32 end = code->length - 1;

	if (v8_code_byte(code, end - 1) == V8_UNDEFINED)
		end--;
	return v8_is_called(code, end);
}

/* Does it go back here to what stands before the first byte? */
static __always_inline int v8_code_loops(const struct v8_code *code, __u32 at)
{
	__u8 number = code->last - V8_LOOP - v8_code_byte(code, at);

	return number <= 1 &&
	       (v8_code_byte(code, at + 1) >= at || (at && !v8_code_byte(code, at - 1)));
}

#endif
