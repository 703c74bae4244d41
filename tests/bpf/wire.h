/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A real link: the programs at its near end, a capture at the other. A lead, which a program
 * sends by itself, arrives there.
 */
#ifndef CTXPROP_TEST_WIRE_H
#define CTXPROP_TEST_WIRE_H

#include "packet.h"

/* What a frame has left to the device: it fills in the checksum, it cuts into segments. */
struct offload {
	bool partial;          /* CHECKSUM_PARTIAL */
	uint16_t csum_start;   /* offset of the TCP header */
	uint16_t segment_size; /* GSO; 0: one segment */
	bool ipv6;
};

/* How packets come to the device with the programs, and what it is. */
enum wire_kind {
	WIRE_LOCAL,     /* a veth device; packets are sent on it, by a socket */
	WIRE_FORWARDED, /* a veth device; packets come in by a tap and are routed on: no socket */
	WIRE_TUN,       /* a device without Ethernet header */
};

struct wire {
	enum wire_kind kind;
	unsigned int near; /* index of the device with the programs */
	int capture;       /* what arrives at the other end is read here */
	int inject;        /* what is written here meets the programs */
};

/*
 * Make the link, and put the programs `out` and `in` on its near end. Returns NULL, and says why,
 * when this machine has no such devices.
 */
struct wire *wire_open(enum wire_kind kind, int out, int in);
void wire_close(struct wire *wire);

/* Send a frame from the near end: it meets the programs there as the node's own packets do. */
void wire_send(struct wire *wire, const struct frame *frame, const struct offload *offload);

/*
 * The next frame that arrives at the far end, as it was sent, and what it left to the device
 * (`ret_offload` may be NULL). Fails after two seconds without one.
 */
void wire_receive(struct wire *wire, struct frame *ret_frame, struct offload *ret_offload);

/*
 * The same the other way round, from the far end through the router; only of WIRE_FORWARDED.
 * What arrives there has met the inbound program.
 */
void wire_answer(struct wire *wire, const struct frame *frame, const struct offload *offload);
void wire_receive_answer(struct wire *wire, struct frame *ret_frame, struct offload *ret_offload);

/* Change what both ends of a veth link can carry. */
void wire_set_mtu(struct wire *wire, unsigned int mtu);

/* Nothing has arrived that was not received yet; else the test fails. */
void wire_expect_silence(struct wire *wire);

#endif
