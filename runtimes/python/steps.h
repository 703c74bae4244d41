/* SPDX-License-Identifier: Apache-2.0 */
/* Where tasks and greenlets of Python begin to work, and where that is over. */
#ifndef CTXPROP_RUNTIMES_PYTHON_STEPS_H
#define CTXPROP_RUNTIMES_PYTHON_STEPS_H

#include "inspect/elf_image.h"
#include "inspect/probe_sites.h"

/*
 * The stub by which code of the image calls a function of another file. 0, or -ENOENT: it has none.
 */
int python_steps_stub(struct elf_image *image, const char *function, __u64 *ret_stub);

/*
 * Add the sites of the module _asyncio: PYTHON_STEP_ENDS, then PYTHON_STEP_BEGINS. 0; -ENOTSUP, and
 * none is added: it has steps begin or end in some way that is not known.
 */
int python_steps_of_tasks(struct elf_image *image, __u32 file, struct probe_sites *sites);

/* The same for the module _greenlet: PYTHON_SWITCHES. */
int python_steps_of_greenlets(struct elf_image *image, __u32 file, struct probe_sites *sites);

/*
 * The same for the interpreter: PYTHON_LEAVES, then PYTHON_HAS_ENTERED. (Where each of its
 * functions has a copy of what enters and leaves contexts, this is not known.)
 */
int python_steps_of_contexts(struct elf_image *image, __u32 file, struct probe_sites *sites);

#endif
