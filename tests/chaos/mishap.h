/* SPDX-License-Identifier: Apache-2.0 */
/*
 * To each connection its own mishap, in turn: one packet of it, told by its place in one direction
 * (the SYN is the first), is lost, comes twice, or is overtaken; or two packets are lost.
 */
#ifndef CHAOS_MISHAP_H
#define CHAOS_MISHAP_H

#include "packet.h"

#include <stdio.h>

enum mishap {
	MISHAP_NONE,
	MISHAP_LOST,
	MISHAP_TWICE,
	MISHAP_LATE,  /* behind the next packet of its connection */
	MISHAP_LATER, /* behind three of them */
	MISHAP_KINDS,
};

/* A connection, by the client's port. */
struct victim {
	bool known;
	uint32_t isn;
	unsigned int plan;
	unsigned int passed[2]; /* packets so far, by direction */
	unsigned int suffered;
};

struct mishaps {
	unsigned int upto; /* places in each direction; 0: there are no mishaps */
	bool pairs;        /* two lost packets as well: each pair of places */
	unsigned int connections;
	struct victim *victims;
	bool *done; /* by plan: a connection has suffered all of it */
};

/* How many different ones there are. */
unsigned int mishaps_count(const struct mishaps *mishaps);

/* Begin. Out of memory ends the program. */
void mishaps_start(struct mishaps *mishaps);

/*
 * What happens to a packet with this TCP header; direction 0 is the client's. Its connection is
 * left in `ret_port`.
 */
enum mishap mishap_of(struct mishaps *mishaps, int direction, const tcp_header *tcp,
		      uint16_t *ret_port);

/* Print how many there are, and how many were suffered in full. */
void mishaps_print(const struct mishaps *mishaps, FILE *to);

void mishaps_free(struct mishaps *mishaps);

#endif
