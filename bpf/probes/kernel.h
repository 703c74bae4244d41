/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The few fields of kernel structures that the probes read. libbpf finds their places in the
 * running kernel's BTF; order and what lies between do not matter here.
 */
#ifndef CTXPROP_PROBES_KERNEL_H
#define CTXPROP_PROBES_KERNEL_H

#include <linux/types.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct task_struct {
	int pid;  /* thread */
	int tgid; /* process */
};

#pragma clang attribute pop

#endif
