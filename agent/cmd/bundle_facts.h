/* SPDX-License-Identifier: Apache-2.0 */
/* What a bundle says of the host and of the daemon's process. */
#ifndef CTXPROP_CMD_BUNDLE_FACTS_H
#define CTXPROP_CMD_BUNDLE_FACTS_H

#include <stdio.h>
#include <sys/types.h>

/* Kernel, distribution, settings that matter to BPF, memory, and mounts that are needed. */
void bundle_host(FILE *out);

/* Rights, limits and cgroup of the daemon; `pid` 0: none is known. */
void bundle_process(FILE *out, pid_t pid);

/*
 * Its command line, and the options of its file without comments. Of URLs only scheme, host and
 * port are told.
 */
void bundle_options(FILE *out, pid_t pid);

#endif
