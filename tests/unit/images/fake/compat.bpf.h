/* SPDX-License-Identifier: GPL-2.0-only */
/* In place of bpf/compat.bpf.h: nothing here differs between kernels. */
#ifndef CTXPROP_COMPAT_BPF_H
#define CTXPROP_COMPAT_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "within.bpf.h"

#ifndef VERIFIED_ALONE
#define VERIFIED_ALONE static __always_inline
#endif

#endif
