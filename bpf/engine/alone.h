/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * VERIFIED_ALONE: in BPF a function that the verifier walks once, on its own (compat.bpf.h);
 * natively one like any other.
 */
#ifndef CTXPROP_ENGINE_ALONE_H
#define CTXPROP_ENGINE_ALONE_H

#ifdef __bpf__
#include "compat.bpf.h"
#else
#define VERIFIED_ALONE static __always_inline
#endif

#endif
