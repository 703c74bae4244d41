/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CTXPROP_PRIVILEGES_H
#define CTXPROP_PRIVILEGES_H

#include <stdbool.h>

/*
 * Give up for good all capabilities but those that a running daemon needs, and that no program can
 * be started with more. 0 or -errno.
 *
 *   CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON   maps, attaching to devices, probes
 *   CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH   the programs of other users and containers, to probe them
 *   CAP_SYS_ADMIN                         to enter other network namespaces, or where the kernel
 *                                         wants it for uprobes that are perf events, if such are
 *                                         used: ret_admin
 */
int privileges_drop(bool enters_netns, bool uprobe_events, bool *ret_admin);

#endif
