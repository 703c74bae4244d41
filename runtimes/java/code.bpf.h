/* SPDX-License-Identifier: GPL-2.0-only */
/* Code that the virtual machine of Java has compiled, and what it knows of that code. */
#ifndef CTXPROP_RUNTIMES_JAVA_CODE_BPF_H
#define CTXPROP_RUNTIMES_JAVA_CODE_BPF_H

#include "compat.bpf.h"
#include "probes/user.bpf.h"
#include "runtimes/java/code_layout.h"

#define JAVA_SEGMENT_FREE 0xff /* no code is there */
#define JAVA_HOPS_MAX     64   /* a blob may have so many times 254 segments, mostly */
#define JAVA_NO_SEGMENT   (~0U)

/* The first eight bytes of what blobs are called. */
#define JAVA_NAME_METHOD 0x00646f6874656d6eULL /* "nmethod" and its NUL */
#define JAVA_NAME_NATIVE 0x6e2065766974616eULL /* "native nmethod" */
#define JAVA_NAME_STUBS  0x74756f5262757453ULL /* "StubRoutines" */

/* May a word be the address of code that Java has compiled? */
static __always_inline int java_code_has(const struct java_code *code, __u64 word)
{
	return word - code->start < code->size;
}

/* The segment in which the blob begins that has this one; JAVA_NO_SEGMENT: no code is there. */
VERIFIED_ALONE __u32 java_first_segment(__u64 segments, __u32 segment)
{
	__u8 back;

	for (int i = 0; i < JAVA_HOPS_MAX; i++) {
		if (bpf_probe_read_user(&back, sizeof(back), (const void *)(segments + segment)) ||
		    back == JAVA_SEGMENT_FREE || back > segment)
			return JAVA_NO_SEGMENT;
		if (!back)
			return segment;
		segment -= back;
	}
	return JAVA_NO_SEGMENT;
}

/* The blob with the code at this address; 0: none. */
static __always_inline __u64 java_blob(const struct java_code *code, __u64 pc)
{
	__u64 start = 0, segments = 0;
	__u32 segment;

	for (int i = 0; i < JAVA_HEAPS_MAX; i++) {
		if (pc - code->heap[i].start >= code->heap[i].size)
			continue;
		start = code->heap[i].start;
		segments = code->heap[i].segments;
	}
	if (!start)
		return 0;
	segment = java_first_segment(segments, (pc - start) >> code->segment_shift);
	if (segment == JAVA_NO_SEGMENT)
		return 0;
	return start + ((__u64)segment << code->segment_shift) + code->block_header;
}

/* Is a blob the code of a method, by the address of its name? */
static __always_inline int java_is_method(__u64 name)
{
	__u64 word = user_read(name);

	return word == JAVA_NAME_METHOD || word == JAVA_NAME_NATIVE;
}

/* Is it one of the stubs that Java, or C++, calls? */
static __always_inline int java_is_stub(__u64 name)
{
	return user_read(name) == JAVA_NAME_STUBS;
}

/* Was a method compiled, so that others may have been put into it? */
static __always_inline int java_is_compiled(__u64 name)
{
	return user_read(name) == JAVA_NAME_METHOD;
}

/* Where a blob's code begins. */
static __always_inline __u64 java_code_begin(const struct java_code *code, __u64 blob)
{
	return code->code_begin ? user_read(blob + code->code_begin)
				: blob + (__u32)user_read(blob + code->code_offset);
}

#endif
