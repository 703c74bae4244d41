/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What framing.bpf.c and its test share. */
#ifndef CTXPROP_TEST_FRAMING_H
#define CTXPROP_TEST_FRAMING_H

#include "http/http1/framing.h"

/* Bytes before the payload: an Ethernet header. */
#define FRAMING_LINK 14
/* Events of one packet; a power of two. */
#define FRAMING_EVENTS 1024
/* Steps that one packet may take. */
#define FRAMING_STEPS 4096

struct framing_event {
	__u32 at; /* in the payload */
	__u32 event;
};

/* The run over one packet. In a map: on the stack the verifier would follow each number. */
struct framing_run {
	struct http1 http;
	struct protocol_window window;
	struct protocol_step step; /* the last one */
	__u32 line;                /* in the window: the first one since another event */
	__u32 at;                  /* offsets in the payload */
	__u32 base;
	__u32 filled;
	__u32 len;
	__u32 anew;  /* set by the test: each packet begins a stream of requests */
	__u32 count; /* events of this packet */
	__u32 steps;
	struct framing_event events[FRAMING_EVENTS];
};

#endif
