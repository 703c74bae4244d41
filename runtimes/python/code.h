/* SPDX-License-Identifier: Apache-2.0 */
/* Places that the machine code (x86-64) of Python's interpreters tells. */
#ifndef CTXPROP_RUNTIMES_PYTHON_CODE_H
#define CTXPROP_RUNTIMES_PYTHON_CODE_H

#include <stddef.h>
#include <linux/types.h>

/*
 * The address of the pthread_key_t of a thread's state, as PyGILState_GetThisThreadState, which
 * stands at `address`, uses it. `runtime`: address of _PyRuntime. 0, or -ENOENT.
 */
int python_code_key(const __u8 *code, size_t size, __u64 address, __u64 runtime, __u64 *ret_key);

/* Where code calls a function that returns a context, and stores that in a task. */
struct python_made {
	__u64 called; /* address of the function, or of its stub */
	__u64 jump;   /* a jump behind it, where the context stands in %rax still */
	__u32 task_offset;
	__u32 task_register; /* enum python_register */
};

/*
 * Call `found` for all places in code at `address` that look like that, until it returns other
 * than 0. Returns what it has returned last.
 */
int python_code_each_made(const __u8 *code, size_t size, __u64 address,
			  int (*found)(const struct python_made *made, void *data), void *data);

/*
 * Which of the stubs that call functions of other files takes the address from `slot`? 0, or
 * -ENOENT.
 */
int python_code_stub(const __u8 *stubs, size_t size, __u64 address, __u64 slot, __u64 *ret_stub);

/*
 * Call `found` with the address of each instruction that calls `called`, or goes on there, until it
 * returns other than 0. Returns what it has returned last.
 */
int python_code_each_call(const __u8 *code, size_t size, __u64 address, __u64 called,
			  int (*found)(__u64 address, void *data), void *data);

/*
 * Where the function of the module _greenlet that makes another greenlet the current one of its
 * thread has done so: a jump behind that, which is always come by. `code` is the function, at
 * `address`. 0, or -ENOENT: it is not told, or there are several such places.
 */
int python_code_switched(const __u8 *code, size_t size, __u64 address, __u64 *ret_jump);

/*
 * Where the function of the interpreter goes on that only gets the thread's state and leaves the
 * rest to another one, as PyContext_Enter and PyContext_Exit do where that is not put into them. 0,
 * or -ENOENT: it does more.
 */
int python_code_rest(const __u8 *code, size_t size, __u64 address, __u64 *ret_rest);

/*
 * Call `found` with the address of the jump behind each call of `called` that depends on whether 0
 * was returned, as python_code_each_call().
 */
int python_code_each_checked(const __u8 *code, size_t size, __u64 address, __u64 called,
			     int (*found)(__u64 address, void *data), void *data);

#endif
