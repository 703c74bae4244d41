/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A real link: two Ethernet devices joined to each other, the programs on the one, a capture on
 * the other. A lead, which a program sends by itself, arrives there.
 */
#ifndef CTXPROP_TEST_WIRE_H
#define CTXPROP_TEST_WIRE_H

#include "packet.h"

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

/* The next frame that arrives at the far end, as it was sent. Fails after two seconds without one.
 */
void wire_receive(struct wire *wire, struct frame *ret_frame);

/* Nothing has arrived that was not received yet; else the test fails. */
void wire_expect_silence(struct wire *wire);

#endif
