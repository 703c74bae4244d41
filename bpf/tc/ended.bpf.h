/* SPDX-License-Identifier: GPL-2.0-only */
/* The end of a request, as a function that the verifier walks once. */
#ifndef CTXPROP_TC_ENDED_BPF_H
#define CTXPROP_TC_ENDED_BPF_H

#include "00-scratch.bpf.h"

VERIFIED_ALONE int serving_request_ended(__u64 id)
{
	context_request_ended(id);
	return 0;
}

#endif
