/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One TCP connection, told packet by packet: each call sends one packet through a program and
 * compares the whole outcome with what the model says.
 *
 * Our side's places are app offsets, the peer's acknowledgements wire offsets, both from the
 * first byte of the stream.
 */
#ifndef CTXPROP_TEST_CONN_H
#define CTXPROP_TEST_CONN_H

#include "rig.h"
#include "stream.h"
#include "wire.h"

/* How a connection begins; what is 0 gets an ordinary value. */
struct opening {
	struct shape shape;
	uint32_t isn; /* of our side */
	uint32_t peer_isn;
	uint16_t mss;    /* that the peer announces; 0: no such option */
	uint16_t window; /* of the peer, in its SYN-ACK */
	uint8_t wscale;
	const uint8_t *options; /* further ones of the SYN-ACK */
	size_t options_len;
};
extern const struct opening ordinary;

/* What stands in front of a segment, in all its kinds: a test may try them all. */
#define SHAPES 8
extern const struct shape shapes[SHAPES];

struct conn {
	struct rig *rig;
	struct shape shape;
	struct meeting meeting;
	struct wire *wire; /* where leads arrive; NULL: there are none. Not owned */
	bool discover;     /* places of headers are not expected, but learned (stream_discover) */
	bool by_wire;      /* our segments are really sent there */
	bool partial;      /* and leave their checksum to the device */
	uint16_t segment_size; /* and their segmentation, if they are longer; 0: never */
	uint16_t port;
	uint8_t wscale;
	bool wscale_known;    /* to the programs: they have seen the SYN-ACK */
	uint16_t peer_window; /* as its segments carry it */
	uint32_t peer_next;   /* number of the peer's next byte */
	uint8_t options[40];  /* of our ordinary segments */
	struct stream stream;
};

struct sack {
	size_t left, right; /* wire offsets */
};

/* A segment of the peer; what is 0 or NULL gets an ordinary value. */
struct incoming {
	size_t ack;   /* wire offset */
	uint8_t more; /* flags beside ACK */
	uint16_t window;
	bool zero_window;
	bool timestamps;
	size_t sacks;
	struct sack sack[4];
	const char *data;
};

/* A new connection: SYN, SYN-ACK and ACK pass, unchanged. */
void conn_open(struct conn *c, struct rig *rig, const struct opening *opening);

/* A connection that the programs have not seen beginning. */
void conn_meet(struct conn *c, struct rig *rig, const struct opening *opening);

/* The SYN-ACK of an opening, as the peer sends it. `ret_options` has room for 40 bytes. */
struct segment conn_syn_ack(const struct conn *c, const struct opening *opening,
			    uint8_t *ret_options);

/* An ordinary segment of ours with app bytes [from, to). */
struct segment conn_segment(const struct conn *c, size_t from, size_t to);

/* An ordinary segment of the peer, before translation; `ret_options` has room for 40 bytes. */
struct segment conn_incoming(const struct conn *c, const struct incoming *in, uint8_t *ret_options);

/*
 * Send app bytes [from, to) in one packet; it becomes what the model says: longer, or with leads
 * in front of it, or only renumbered. Which of them, the counters tell.
 */
void conn_transmit(struct conn *c, size_t from, size_t to);

/* The same with a segment that was made by conn_segment() and then changed, but not its seq. */
void conn_transmit_as(struct conn *c, const struct segment *s);

/* The app writes a marked text (see stream.h), which leaves in one packet. Returns its offset. */
size_t conn_send(struct conn *c, const char *marked);

/* A segment passes, in either direction, and is not changed at all. */
void conn_pass(struct conn *c, const struct segment *s);

/* A segment becomes `want`. */
void conn_expect(struct conn *c, const struct segment *s, const struct segment *want);

/* From now on our segments are said to leave by the near end of this link, and leads do. */
void conn_use_wire(struct conn *c, struct wire *wire);

/*
 * From now on our segments are sent there as the node's own are, with the work that is left to
 * the device.
 */
void conn_go_by_wire(struct conn *c, struct wire *wire, bool partial, uint16_t segment_size);

/* A segment passes that is none of the connection's, however it is changed. */
void conn_stray(struct conn *c, const struct segment *s);

/* A segment is dropped. */
void conn_drop(struct conn *c, const struct segment *s);

/* The peer sends a segment; what it says about our bytes is translated as the model says. */
void conn_receive(struct conn *c, const struct incoming *in);

/* The window that the app gets to see when the peer says `window` and acknowledges `ack`. */
uint16_t conn_app_window(const struct conn *c, uint16_t window, size_t ack);

/* The peer acknowledges all wire bytes before offset `ack`. */
void conn_ack(struct conn *c, size_t ack);

/* It acknowledges everything that was written. */
void conn_ack_all(struct conn *c);

/* The peer answers with data, which acknowledges everything. */
void conn_answer(struct conn *c, const char *data);

/* The flow of this connection; the test fails when there is none. */
struct flow conn_flow(const struct conn *c);

/* Its edits in flight, and what the retired ones came to in bytes. */
uint32_t conn_in_flight(const struct conn *c);
uint32_t conn_base(const struct conn *c);

/* Is there a flow? */
bool conn_is_known(const struct conn *c);

#endif
