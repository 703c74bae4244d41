/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where code has come or gone that the kernel makes as it runs: BPF programs and trampolines. It
 * tells so itself (PERF_RECORD_KSYMBOL of perf_event_open(2)).
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
 * Take what the kernel has told, as something that is seen at `now_ns` (CLOCK_MONOTONIC), and
 * forget what was seen before `since_ns`, which nobody asks for any more.
 */
void kernel_watch_look(struct kernel_watch *watch, __u64 now_ns, __u64 since_ns);

/*
 * Was it seen at this time or later that code at an address has come or gone? So it is of every
 * address where not all was heard that was told.
 */
bool kernel_watch_changed(const struct kernel_watch *watch, __u64 address, __u64 since_ns);

#endif
