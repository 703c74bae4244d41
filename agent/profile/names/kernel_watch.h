/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches code that the kernel creates or removes as it runs: BPF programs and trampolines, by
 * PERF_RECORD_KSYMBOL of perf_event_open(2).
 */
#ifndef CTXPROP_PROFILE_NAMES_KERNEL_WATCH_H
#define CTXPROP_PROFILE_NAMES_KERNEL_WATCH_H

#include <stdbool.h>
#include <linux/types.h>

struct kernel_watch;

/* Watch from now on. NULL: that cannot be done. */
struct kernel_watch *kernel_watch_new(void);
void kernel_watch_free(struct kernel_watch *watch);

/*
 * Read new records of the kernel, as seen at `now_ns` (CLOCK_MONOTONIC), and forget those that were
 * seen before `since_ns`.
 */
void kernel_watch_look(struct kernel_watch *watch, __u64 now_ns, __u64 since_ns);

/*
 * Has code at an address come or gone, as seen at this time or later? True for every address if
 * records were lost.
 */
bool kernel_watch_changed(const struct kernel_watch *watch, __u64 address, __u64 since_ns);

#endif
