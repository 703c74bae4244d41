/* SPDX-License-Identifier: Apache-2.0 */
/* Begins and ends showing what runs on the threads of all processes in turn (publish.h). */
#ifndef CTXPROP_SHOWN_H
#define CTXPROP_SHOWN_H

#include "runtime/runtime_probes.h"

/*
 * Processes are shown from now on (RUNTIME_SHOWN in map `runtimes`): all that need no probe for it
 * by now, the others when they were looked at again, which `look` is to have done.
 */
void shown_begin(int runtimes_fd, void (*look)(__u32 tgid, void *data), void *data);

/* None is any more: the probes for it go, and what the map says by them. */
void shown_end(int runtimes_fd, struct runtime_probes *probes);

#endif
