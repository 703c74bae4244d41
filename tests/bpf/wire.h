/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A real link: two Ethernet devices joined to each other, the programs on the one, a capture on
 * the other. A lead, which a program sends by itself, arrives there.
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

struct wire {
	unsigned int near; /* index of the device with the programs */
	unsigned int far;
	int capture; /* socket on the far device */
	int inject;  /* socket on the near device; a packet sent there meets the programs */
};

/*
 * Make the link, and put the outbound program `prog_fd` on its near end. Returns NULL, and says
 * why, when this machine has no such devices.
 */
struct wire *wire_open(int prog_fd);
void wire_close(struct wire *wire);

/* Send a frame from the near end: it meets the programs there as the node's own packets do. */
void wire_send(struct wire *wire, const struct frame *frame, const struct offload *offload);

/*
 * The next frame that arrives at the far end, as it was sent, and what it left to the device
 * (`ret_offload` may be NULL). Fails after two seconds without one.
 */
void wire_receive(struct wire *wire, struct frame *ret_frame, struct offload *ret_offload);

/* Change what both ends can carry. */
void wire_set_mtu(struct wire *wire, unsigned int mtu);

/* Nothing has arrived that was not received yet; else the test fails. */
void wire_expect_silence(struct wire *wire);

#endif
