/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads names from the memory of a process, in a sandbox (inspect/sandbox.h) that can access
 * nothing but that memory: whatever it contains, at worst the names of this process are wrong or
 * missing. A sandbox answers until its limits on time are reached.
 */
#ifndef CTXPROP_PROFILE_NAMES_NAME_READER_H
#define CTXPROP_PROFILE_NAMES_NAME_READER_H

#include "inspect/sandbox.h"
#include "runtimes/names.h"

/*
 * How long an answer is waited for. It takes some 20 us, but the CPUs may be busy, and the page may
 * have to be read from a disk.
 */
#define NAME_READER_ANSWER_MS 200

/* Start one for a process; `ret_reader` is to be closed by sandbox_close(). 0 or -errno. */
int name_reader_start(__u32 tgid, struct sandbox *ret_reader);

/* Is there time for another name? */
bool name_reader_has_time(const struct sandbox *reader);

/*
 * What the runtime's read() returns (runtimes/names.h), with a text that runtime_text_parse() takes
 * where it is not below 0. -EPIPE: the sandbox has ended, or makes no sense; -ETIMEDOUT: there is
 * no answer. After these two it is to be closed.
 */
int name_reader_ask(struct sandbox *reader, const struct named_code *code, char *ret_text);

#endif
