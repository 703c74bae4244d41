/* SPDX-License-Identifier: Apache-2.0 */
/* One direction of the bad link: what happens to a packet between two devices. */
#ifndef CHAOS_LANE_H
#define CHAOS_LANE_H

#include "mishap.h"
#include "packet.h"
#include "rng.h"

#define HELD_MAX 32

/* How partial checksums and large packets cross the link. */
enum offload { OFFLOAD_OFF, OFFLOAD_SEGMENT, OFFLOAD_PASS };

/* The same for both directions. Percentages are per packet on the wire, times in microseconds. */
struct impairment {
	enum offload offload;
	double loss, duplicate, reorder, corrupt, forge;
	unsigned int behind, burst;
	uint64_t delay_us, jitter_us;
	unsigned int mtu, rate_mbit, fault_every;
	size_t link_len;
	bool icmp;
};

struct lane_counts {
	uint64_t packets, large, partial, lost, duplicated, reordered, corrupted, faulted, forged;
	uint64_t too_big, icmp, overflow, unsent;
};

/* A packet on its way. `serial` keeps the order of those that are due at the same time. */
struct due {
	uint64_t at_us, serial;
	struct packet *packet;
};

/* A packet that is kept back until `left` others have passed, or its time is up. */
struct held {
	uint64_t until_us;
	unsigned int left;
	uint16_t port; /* others of this connection; 0: of any */
	struct packet *packet;
};

struct lane {
	const struct impairment *impairment;
	struct mishaps *mishaps;
	const char *name;
	int direction; /* 0: the client sends */
	int out, back;
	unsigned int losing; /* packets of a burst that are still to be lost */
	struct rng rng;
	struct due *heap;
	size_t count, capacity;
	uint64_t serial, free_us;
	struct held held[HELD_MAX];
	struct lane_counts counts;
};

/* Take one packet from the sender's device. The caller keeps it. */
void lane_take(struct lane *lane, const struct packet *packet, uint64_t now_us);

/* Hand over what is due. Returns when it wants to be called again, UINT64_MAX for never. */
uint64_t lane_deliver(struct lane *lane, uint64_t now_us);

/* Print the counts on stdout. */
void lane_print(const struct lane *lane);

/* Free all packets on the way. */
void lane_free(struct lane *lane);

#endif
