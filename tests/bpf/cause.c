// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cmocka.h>

#include "cause.h"
#include "tc.skel.h"
#include "tracestate.h"

static __u64 span_of(uint32_t number)
{
	return 0xca00000000000000ull + number;
}

static size_t put_tracestate(const struct rig *rig, uint32_t number, const char *value)
{
	struct tracestate state = {};
	__u64 key = span_of(number);

	for (; *value; value++)
		tracestate_feed(&state, *value);
	assert_true(tracestate_finish(&state) > 0);
	assert_int_equal(
	    bpf_map_update_elem(bpf_map__fd(rig->tc->maps.tracestates), &key, &state, BPF_ANY), 0);
	return state.len;
}

size_t cause_say(const struct conn *c, uint32_t seq, uint32_t number, const char *tracestate)
{
	int sockets = bpf_map__fd(c->rig->tc->maps.sockets), fd = c->wire->inject;
	struct socket socket = {};
	struct call call = {.request = span_of(number), .seq = seq, .evidence = EVIDENCE_THREAD};

	call.outstanding = 1;
	call.cause.trace_id[11] = 0x0b;
	put32(call.cause.trace_id + 12, number);
	memcpy(call.cause.span_id, &call.request, sizeof(call.request));
	call.cause.flags = TRACEPARENT_SAMPLED | TRACEPARENT_RANDOM;
	call.cause.tracestate = tracestate != NULL;
	bpf_map_lookup_elem(sockets, &fd, &socket);
	socket.flags |= SOCKET_CLIENT;
	socket.call[socket.calls_end++ % SOCKET_CALLS] = call;
	assert_int_equal(bpf_map_update_elem(sockets, &fd, &socket, BPF_ANY), 0);
	return tracestate ? put_tracestate(c->rig, number, tracestate) : 0;
}

void cause_forget(const struct conn *c)
{
	int fd = c->wire->inject;

	bpf_map_delete_elem(bpf_map__fd(c->rig->tc->maps.sockets), &fd);
}

int cause_is_shared_now(const struct conn *c)
{
	int fd = c->wire->inject;
	struct socket socket = {};

	bpf_map_lookup_elem(bpf_map__fd(c->rig->tc->maps.sockets), &fd, &socket);
	return !!(socket.flags & SOCKET_SHARED);
}

void cause_end(const struct conn *c, uint32_t number)
{
	__u64 key = span_of(number);

	bpf_map_delete_elem(bpf_map__fd(c->rig->tc->maps.tracestates), &key);
}

size_t cause_kept(const struct conn *c)
{
	int carried = bpf_map__fd(c->rig->tc->maps.carried);
	__u64 key, *last = NULL;
	size_t n = 0;

	for (; !bpf_map_get_next_key(carried, last, &key); n++)
		last = &key;
	return n;
}
