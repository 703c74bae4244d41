/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CTXPROP_PRIVILEGES_H
#define CTXPROP_PRIVILEGES_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Give up all capabilities for good but those that a running daemon needs, and make sure that no
 * program it starts can have more. 0 or -errno.
 *
 *   CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON   maps, attaching to devices, probes
 *   CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH   the programs of other users and containers, to probe them
 *   CAP_SYSLOG                            where /proc/kallsyms tells addresses to nobody else, if
 *                                         functions of the kernel are to be named: names_kernel
 *   CAP_SYS_ADMIN                         to enter other network namespaces, or where the kernel
 *                                         wants it for uprobes that are perf events, if such are
 *                                         used: ret_admin
 */
int privileges_drop(bool enters_netns, bool uprobe_events, bool names_kernel, bool *ret_admin);

#define PRIVILEGES_LACKS 2

/* A capability that a process does not have, and what does not work without it. */
struct privileges_lack {
	const char *name, *lost;
};

/*
 * Which of the capabilities that following programs of other users takes a process does not have;
 * `pid` 0: this process. Returns how many were put into `ret`, or -errno: they cannot be read.
 */
int privileges_lacking(pid_t pid, struct privileges_lack ret[PRIVILEGES_LACKS]);

#endif
