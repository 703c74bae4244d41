/* SPDX-License-Identifier: GPL-2.0-only */
/* The end of a request, for packet programs (its response is sent) and probes alike. */
#ifndef CTXPROP_ENGINE_END_BPF_H
#define CTXPROP_ENGINE_END_BPF_H

#include "engine/maps.bpf.h"
#include "engine/account.h"

/* The request is over: nothing is its child any more. May be called more than once. */
static __always_inline void context_request_ended(__u64 id)
{
	/* Also of the request that another process works on for this one. */
	for (int i = 0; i < 2 && id; i++) {
		struct request *r = request_lookup(id);
		__u64 peer;

		if (!r)
			return;
		peer = request_end(r, id);
		request_free(r, id);
		id = peer;
	}
}

#endif
