/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Java: where its virtual machine has code that was compiled at run time, and what it knows of that
 * code. The sampler goes through such code by this, and user space finds names by it. Offsets, but
 * for those that say otherwise.
 */
#ifndef CTXPROP_RUNTIMES_JAVA_CODE_LAYOUT_H
#define CTXPROP_RUNTIMES_JAVA_CODE_LAYOUT_H

#include <linux/types.h>

#define JAVA_HEAPS_MAX 3 /* of code: methods, methods that are profiled, and all else */

/*
 * A part of the code cache. Code comes in blobs (CodeBlob), each in segments of the same size. A
 * byte for each segment says how many segments back its blob begins, as far as one byte can say.
 */
struct java_heap {
	__u64 start;
	__u64 segments; /* address of these bytes */
	__u64 size;     /* bytes of code; 0: there is no such part */
};

/*
 * Which methods the code of a method has in it, at each place from which it calls. Offsets in the
 * blob, and of tables in the blob or, since Java 23, in memory of their own.
 */
struct java_scopes {
	__u16 compilation; /* its number, which no other code has; 0: all of this is not known */
	__u16 own_memory;  /* address of the memory of its own; 0: tables are in the blob */
	__u16 places;      /* offset of the table of places (PcDesc) */
	__u16 places_end;  /* offset of what is behind it */
	__u16 data;       /* where the numbers are that places refer to: offset; until 22 address */
	__u16 methods;    /* of the table of methods: offset; since 25 bytes before it */
	__u16 methods_at; /* since 25: address of the memory that it is in; else 0 */
	__u16 first_byte; /* by which bytes of numbers are larger than they count: since Java 20 */
};

struct java_code {
	__u64 start, size; /* address and bytes of all of it */
	struct java_heap heap[JAVA_HEAPS_MAX];
	__u64 interpreter;      /* address of the interpreter's code */
	__u64 call_return;      /* address in the stub by which C++ calls Java */
	__u32 interpreter_size; /* bytes */
	__u8 segment_shift;     /* log2 of the bytes of a segment */
	__u8 block_header;      /* bytes before each blob */
	/* CodeBlob: */
	__u16 name;
	__u16 frame_size;     /* words that it has on the stack, with the return address */
	__u16 frame_complete; /* from which byte of its code on */
	__u16 code_begin;     /* address of its code; 0: see below */
	__u16 code_offset;    /* how far behind the blob its code begins (since Java 23) */
	__u16 method;         /* nmethod: its Method */
	/* From the Method to its names: */
	__u16 const_method;                /* Method */
	__u16 constants, name_index;       /* ConstMethod */
	__u16 constants_size;              /* bytes of a ConstantPool before the constants */
	__u16 holder, source;              /* ConstantPool: its class; number of its file's name */
	__u16 class_name, class_constants; /* Klass */
	__u16 symbol_length, symbol_text;  /* Symbol */
	struct java_scopes scopes;
};

/*
 * In the address of a pair (bpf/profile/sample.h): it is a blob, not a Method; it is the code of a
 * method, and the check word has the number of its compilation, and where in the blob it has
 * called.
 */
#define JAVA_PAIR_BLOB     1ULL
#define JAVA_PAIR_CALL     2ULL
#define JAVA_PAIR_BITS     (JAVA_PAIR_BLOB | JAVA_PAIR_CALL)
#define JAVA_CALL_SHIFT    32
#define JAVA_CALL_PLACE(w) ((__u32)(w))

#endif
