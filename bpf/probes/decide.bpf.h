/* SPDX-License-Identifier: GPL-2.0-only */
/* The engine's decisions, over what they want declared first: the store, and turn_goes_on(). */
#ifndef CTXPROP_PROBES_DECIDE_BPF_H
#define CTXPROP_PROBES_DECIDE_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "engine/maps.bpf.h"
#include "engine/worker.h"
#include "probes/turn.bpf.h"
#include "engine/who.h"

#endif
