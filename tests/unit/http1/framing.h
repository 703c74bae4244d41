/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What framing.bpf.c and its test share. */
#ifndef CTXPROP_TEST_FRAMING_H
#define CTXPROP_TEST_FRAMING_H

#include "http1.h"

/* Bytes before the payload: an Ethernet header. */
#define FRAMING_LINK 14
/* Events of a run; a power of two. */
#define FRAMING_EVENTS 1024
/* Steps that one packet may take. */
#define FRAMING_STEPS 4096

/* of which one call of bpf_loop() makes so many */
#define FRAMING_TURN 4

struct framing_window {
	__u8 bytes[HTTP1_WINDOW + 8];
};

struct framing_event {
	__u32 at; /* relative to the payload of its packet */
	__u32 event;
};

struct framing {
	struct http1 http;
	struct framing_window window;
	__u32 kind; /* enum http1_kind, of an automaton that begins anew */
	__u32 anew; /* 1: each packet is a stream of its own */
	__u32 count;
	__u32 steps;
	struct framing_event events[FRAMING_EVENTS];
};

#endif
