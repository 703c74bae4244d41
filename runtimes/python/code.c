// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "runtimes/runtime.h"
#include "inspect/machine_code.h"
#include "runtimes/python/code.h"

#define KEY_IN_TSS   4          /* Py_tss_t._key, behind _is_initialized */
#define RUNTIME_SIZE (1U << 20) /* more than sizeof(_PyRuntimeState) in any version */

static __u32 operand(const __u8 *code)
{
	__u32 value;

	memcpy(&value, code, sizeof(value));
	return value;
}

/* lea value(%rax), %register: in position-independent code, %rax is _PyRuntime. */
static bool is_lea_rax(const __u8 *code)
{
	return code[0] == 0x48 && code[1] == 0x8d && (code[2] & 0xc7) == 0x80;
}

/* lea value(%rip), %rdi */
static bool is_lea_rip(const __u8 *code)
{
	return code[0] == 0x48 && code[1] == 0x8d && code[2] == 0x3d;
}

/* mov value(%rip), %edi: the key itself, for pthread_getspecific() */
static bool is_load_rip(const __u8 *code)
{
	return code[0] == 0x8b && code[1] == 0x3d;
}

int python_code_key(const __u8 *code, size_t size, __u64 address, __u64 runtime, __u64 *ret_key)
{
	__u64 key = 0;

	for (size_t i = 0; !key && i + 7 <= size; i++) {
		if (is_lea_rax(&code[i]))
			key = runtime + operand(&code[i + 3]) + KEY_IN_TSS;
		else if (is_lea_rip(&code[i]))
			key = address + i + 7 + (__u64)(__s32)operand(&code[i + 3]) + KEY_IN_TSS;
		else if (is_load_rip(&code[i]))
			key = address + i + 6 + (__u64)(__s32)operand(&code[i + 2]);
	}
	if (key < runtime || key >= runtime + RUNTIME_SIZE)
		return -ENOENT;
	*ret_key = key;
	return 0;
}

#define STUB_SIZE  16 /* of those that call functions of other files */
#define CALL_SIZE  5
#define STORE_SIZE 7
#define TEST_SIZE  3
#define LOAD_SIZE  5
#define LOADS_MAX  4
#define REST_SIZE  (STORE_SIZE + TEST_SIZE + 2)
#define LOOK_SIZE  (CALL_SIZE + REST_SIZE)

/* mov %rax, value(%register), of those that functions keep: which? 0, or -ENOENT. */
static int store_register(const __u8 *code, __u32 *ret_register)
{
	bool later = code[0] == 0x49; /* %r8 to %r15 */

	if ((code[0] != 0x48 && !later) || code[1] != 0x89 || (code[2] & 0xf8) != 0x80)
		return -ENOENT;
	switch (code[2] & 7) {
	case 3:
		*ret_register = PYTHON_RBX;
		return later ? -ENOENT : 0;
	case 5:
		*ret_register = later ? PYTHON_R13 : PYTHON_RBP;
		return 0;
	case 6:
		*ret_register = PYTHON_R14;
		return later ? 0 : -ENOENT;
	case 7:
		*ret_register = PYTHON_R15;
		return later ? 0 : -ENOENT;
	default:
		return -ENOENT;
	}
}

/* mov value(%rsp), %register: what the call has cost its register */
static bool is_reload(const __u8 *code)
{
	return (code[0] & 0xfb) == 0x48 && code[1] == 0x8b && (code[2] & 0xc7) == 0x44 &&
	       code[3] == 0x24;
}

/* Behind a call: where what it has returned is stored, as far as nothing but reloads stands before.
 */
static const __u8 *behind_reloads(const __u8 *code, const __u8 *end)
{
	for (int i = 0; i < LOADS_MAX && end - code >= LOAD_SIZE + REST_SIZE && is_reload(code);
	     i++)
		code += LOAD_SIZE;
	return code;
}

/* test %register, %register */
static bool is_test(const __u8 *code)
{
	return (code[0] & 0xf8) == 0x48 && code[1] == 0x85 && code[2] >= 0xc0;
}

/* je or jne */
static bool is_jump(const __u8 *code)
{
	return (code[0] & 0xfe) == 0x74 || (code[0] == 0x0f && (code[1] & 0xfe) == 0x84);
}

int python_code_each_made(const __u8 *code, size_t size, __u64 address,
			  int (*found)(const struct python_made *made, void *data), void *data)
{
	int result = 0;

	for (size_t i = 0; !result && i + LOOK_SIZE <= size; i++) {
		const __u8 *store = behind_reloads(&code[i + CALL_SIZE], code + size),
			   *test = store + STORE_SIZE;
		__u64 next = address + i + CALL_SIZE;
		struct python_made made = {
		    .called = next + (__u64)(__s32)operand(&code[i + 1]),
		    .jump = address + (__u64)(test + TEST_SIZE - code),
		    .task_offset = operand(store + 3),
		};

		if (code[i] == 0xe8 && !store_register(store, &made.task_register) &&
		    is_test(test) && is_jump(test + TEST_SIZE))
			result = found(&made, data);
	}
	return result;
}

int python_code_stub(const __u8 *stubs, size_t size, __u64 address, __u64 slot, __u64 *ret_stub)
{
	for (size_t i = 0; i + STUB_SIZE <= size; i += STUB_SIZE) {
		__u64 found;

		if (machine_code_slot(&stubs[i], STUB_SIZE, address + i, &found) || found != slot)
			continue;
		*ret_stub = address + i;
		return 0;
	}
	return -ENOENT;
}

int python_code_each_call(const __u8 *code, size_t size, __u64 address, __u64 called,
			  int (*found)(__u64 address, void *data), void *data)
{
	int result = 0;

	for (size_t i = 0; !result && i + CALL_SIZE <= size; i++) {
		__u64 next = address + i + CALL_SIZE;

		if ((code[i] & 0xfe) == 0xe8 &&
		    next + (__u64)(__s32)operand(&code[i + 1]) == called)
			result = found(address + i, data);
	}
	return result;
}

#define SWITCH_SIZE 9 /* of what is looked for below */

/*
 * mov %register, GREENLET_STATE_CURRENT(%register); test %register, %register; je or jne: the last
 * one is let go, if there was one.
 */
static bool is_switch(const __u8 *code)
{
	return (code[0] & 0xf8) == 0x48 && code[1] == 0x89 && (code[2] & 0xc0) == 0x40 &&
	       (code[2] & 7) != 4 && code[3] == GREENLET_STATE_CURRENT && is_test(&code[4]) &&
	       is_jump(&code[7]);
}

int python_code_switched(const __u8 *code, size_t size, __u64 address, __u64 *ret_jump)
{
	int found = 0;

	for (size_t i = 0; i + SWITCH_SIZE <= size; i++) {
		if (!is_switch(&code[i]))
			continue;
		*ret_jump = address + i + SWITCH_SIZE - 2;
		found++;
	}
	return found == 1 ? 0 : -ENOENT;
}

#define REST_MOVE_SIZE 3 /* mov %rdi, %rsi */
#define REST_LOAD_SIZE 7 /* mov value(%rip), %rdi */

int python_code_rest(const __u8 *code, size_t size, __u64 address, __u64 *ret_rest)
{
	static const __u8 move[REST_MOVE_SIZE] = {0x48, 0x89, 0xfe}, load[] = {0x48, 0x8b, 0x3d};
	const size_t jump = sizeof(move) + REST_LOAD_SIZE;

	if (size < jump + CALL_SIZE || memcmp(code, move, sizeof(move)) != 0 ||
	    memcmp(code + sizeof(move), load, sizeof(load)) != 0 || code[jump] != 0xe9)
		return -ENOENT;
	*ret_rest = address + jump + CALL_SIZE + (__u64)(__s32)operand(&code[jump + 1]);
	return 0;
}

struct checked {
	const __u8 *code;
	size_t size;
	__u64 address;
	int (*found)(__u64 address, void *data);
	void *data;
};

static int find_check(__u64 call, void *data)
{
	static const __u8 test[] = {0x85, 0xc0}; /* test %eax, %eax */
	const struct checked *checked = data;
	const size_t behind = call - checked->address + CALL_SIZE;

	if (checked->code[behind - CALL_SIZE] != 0xe8 ||
	    behind + sizeof(test) + 2 > checked->size ||
	    memcmp(&checked->code[behind], test, sizeof(test)) != 0 ||
	    !is_jump(&checked->code[behind + sizeof(test)]))
		return 0;
	return checked->found(call + CALL_SIZE + sizeof(test), checked->data);
}

int python_code_each_checked(const __u8 *code, size_t size, __u64 address, __u64 called,
			     int (*found)(__u64 address, void *data), void *data)
{
	struct checked checked = {code, size, address, found, data};

	return python_code_each_call(code, size, address, called, find_check, &checked);
}
