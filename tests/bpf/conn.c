// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "conn.h"
#include "tcp_options.h"

#define OUR_WINDOW  502
#define PEER_WINDOW 500

const struct opening ordinary = {
    .shape = {.name = "IPv4, Ethernet, timestamps", .options = TIMESTAMPS_LEN},
    .isn = 0x10000000,
    .peer_isn = 0x20000000,
    .mss = 1460,
    .window = 65535,
    .wscale = 7,
};

const struct shape shapes[SHAPES] = {
    {.name = "IPv4, Ethernet", .options = 0},
    {.name = "IPv4, Ethernet, timestamps", .options = TIMESTAMPS_LEN},
    {.name = "IPv4, Ethernet, longest TCP header", .options = 40},
    {.name = "IPv4, one VLAN tag", .tags = 1, .options = TIMESTAMPS_LEN},
    {.name = "IPv4, two VLAN tags", .tags = 2, .options = TIMESTAMPS_LEN},
    {.name = "IPv6, Ethernet, timestamps", .ipv6 = true, .options = TIMESTAMPS_LEN},
    {.name = "IPv4, no Ethernet", .ip_device = true, .options = TIMESTAMPS_LEN},
    {.name = "IPv6, no Ethernet", .ip_device = true, .ipv6 = true, .options = TIMESTAMPS_LEN},
};

static void our_options(struct conn *c)
{
	memset(c->options, TCP_NOP, sizeof(c->options));
	if (c->shape.options >= TIMESTAMPS_LEN)
		tcp_timestamps(c->options);
}

void conn_meet(struct conn *c, struct rig *rig, const struct opening *opening)
{
	memset(c, 0, offsetof(struct conn, stream));
	c->rig = rig;
	c->shape = opening->shape;
	c->port = ++rig->port;
	c->wscale = opening->wscale;
	c->peer_window = PEER_WINDOW;
	c->peer_next = opening->peer_isn + 1;
	c->stream.first = opening->isn + 1;
	c->stream.len = c->stream.edits = c->stream.state_len = 0;
	our_options(c);
	rig_forget_counts(rig);
}

struct segment conn_syn_ack(const struct conn *c, const struct opening *opening,
			    uint8_t *ret_options)
{
	size_t len = tcp_syn_options(ret_options, opening->mss, opening->wscale);

	if (opening->options_len)
		memcpy(ret_options + len, opening->options, opening->options_len);
	return (struct segment){
	    .shape = c->shape,
	    .from_peer = true,
	    .port = c->port,
	    .seq = opening->peer_isn,
	    .ack = opening->isn + 1,
	    .flags = SYN | ACK,
	    .window = opening->window,
	    .options = ret_options,
	    .options_len = len + opening->options_len,
	};
}

void conn_open(struct conn *c, struct rig *rig, const struct opening *opening)
{
	uint8_t options[80];
	struct segment syn, syn_ack, ack;

	conn_meet(c, rig, opening);
	syn = conn_segment(c, 0, 0);
	syn.seq = opening->isn;
	syn.ack = 0;
	syn.flags = SYN;
	conn_pass(c, &syn);
	syn_ack = conn_syn_ack(c, opening, options);
	conn_pass(c, &syn_ack);
	c->wscale_known = true;
	ack = conn_segment(c, 0, 0);
	conn_pass(c, &ack);
	rig_forget_counts(rig);
}

struct segment conn_segment(const struct conn *c, size_t from, size_t to)
{
	return (struct segment){
	    .shape = c->shape,
	    .port = c->port,
	    .seq = c->stream.first + from,
	    .ack = c->peer_next,
	    .flags = from < to ? ACK | PSH : ACK,
	    .window = OUR_WINDOW,
	    .options = c->options,
	    .options_len = c->shape.options,
	    .payload = c->stream.byte + from,
	    .payload_len = to - from,
	    .partial = c->partial,
	};
}

static int run(struct conn *c, const struct segment *s, struct frame *frame)
{
	packet_build(s, frame);
	return rig_run(c->rig, s->from_peer ? HOOK_IN : HOOK_OUT, &c->shape, &c->meeting, frame);
}

/* A segment of the peer comes through the router. */
static void answer_by_wire(struct conn *c, const struct segment *s, struct frame *ret_frame)
{
	struct offload got,
	    work = {.partial = s->partial, .csum_start = s->partial ? packet_tcp_offset(s) : 0};

	packet_build(s, ret_frame);
	wire_answer(c->wire, ret_frame, &work);
	wire_receive_answer(c->wire, ret_frame, &got);
	assert_int_equal(got.partial, work.partial);
	assert_int_equal(got.csum_start, work.csum_start);
}

void conn_expect(struct conn *c, const struct segment *s, const struct segment *want)
{
	static struct frame got, wanted;

	if (s->from_peer && c->by_wire && c->wire->kind == WIRE_FORWARDED)
		answer_by_wire(c, s, &got);
	else
		assert_int_equal(run(c, s, &got), VERDICT_NEXT);
	packet_build(want, &wanted);
	expect_frame(&got, &wanted);
}

void conn_pass(struct conn *c, const struct segment *s)
{
	conn_expect(c, s, s);
}

void conn_stray(struct conn *c, const struct segment *s)
{
	static struct frame frame;

	assert_int_equal(run(c, s, &frame), VERDICT_NEXT);
}

void conn_drop(struct conn *c, const struct segment *s)
{
	static struct frame frame;

	assert_int_equal(run(c, s, &frame), VERDICT_DROP);
}

/* A packet as it went out: its payload, with that of its leads in front. */
struct departure {
	size_t lead_len; /* bytes of all leads */
	size_t len;
	uint8_t bytes[FRAME_MAX];
};

static void depart(struct departure *d, const struct frame *frame, size_t payload)
{
	assert_true(frame->len >= payload);
	assert_true(d->len + frame->len - payload <= sizeof(d->bytes));
	memcpy(d->bytes + d->len, frame->data + payload, frame->len - payload);
	d->len += frame->len - payload;
}

/* What a packet of `payload_len` bytes leaves to the device. */
static struct offload offload(const struct conn *c, const struct segment *s, size_t payload_len)
{
	bool cut = c->segment_size && payload_len > c->segment_size;

	return (struct offload){
	    .partial = c->partial,
	    .csum_start = c->partial ? packet_tcp_offset(s) : 0,
	    .segment_size = cut ? c->segment_size : 0,
	    .ipv6 = cut && c->shape.ipv6,
	};
}

/* A frame arrives at the far end; what it left to the device is what it should. */
static void receive_frame(const struct conn *c, const struct segment *s, size_t payload_len,
			  struct frame *ret_frame)
{
	struct offload got, want = offload(c, s, payload_len);

	wire_receive(c->wire, ret_frame, &got);
	assert_int_equal(got.partial, want.partial);
	assert_int_equal(got.csum_start, want.csum_start);
	assert_int_equal(got.segment_size, want.segment_size);
	assert_int_equal(got.ipv6, want.ipv6);
}

/* The `n` leads of a segment that becomes `want`: each is a piece of its bytes, without its end. */
static void receive_leads(struct conn *c, const struct segment *s, uint64_t n, uint32_t wire_seq,
			  struct departure *d)
{
	static struct frame got, wanted;
	size_t payload = packet_payload_offset(s);

	d->len = 0;
	for (uint64_t i = 0; i < n; i++) {
		struct segment want = *s;

		receive_frame(c, s, 0, &got);
		want.seq = wire_seq + d->len;
		want.payload = d->bytes + d->len;
		depart(d, &got, payload);
		want.payload_len = got.len - payload;
		want.flags &= ~(FIN | PSH | URG);
		want.padding = 0;
		packet_build(&want, &wanted);
		expect_frame(&got, &wanted);
	}
	d->lead_len = d->len;
}

/* Send a segment, which is not dropped. Returns how many leads went ahead of it. */
static uint64_t send_segment(struct conn *c, const struct segment *s, struct frame *frame)
{
	uint64_t leads = rig_count(c->rig, REASON_LEAD);
	struct offload work = offload(c, s, s->payload_len);

	if (c->by_wire) {
		packet_build(s, frame);
		wire_send(c->wire, frame, &work);
	} else {
		assert_int_equal(run(c, s, frame), VERDICT_NEXT);
	}
	return rig_count(c->rig, REASON_LEAD) - leads;
}

void conn_transmit_as(struct conn *c, const struct segment *s)
{
	static struct frame got, wanted;
	static struct departure left;
	static uint8_t wire[FRAME_MAX];
	size_t from = s->seq - c->stream.first, wire_len;
	struct segment want = *s;

	want.seq = c->stream.first + stream_to_wire(&c->stream, from);
	receive_leads(c, s, send_segment(c, s, &got), want.seq, &left);
	if (c->by_wire)
		receive_frame(c, s, s->payload_len, &got);
	depart(&left, &got, packet_payload_offset(s));
	if (c->discover)
		stream_discover(&c->stream, from, s->payload_len, left.bytes, left.len);
	wire_len =
	    stream_wire_bytes(&c->stream, from, from + s->payload_len, left.bytes, left.len, wire);
	assert_memory_equal(left.bytes, wire, left.lead_len);
	want.seq += left.lead_len;
	want.payload = wire + left.lead_len;
	want.payload_len = wire_len - left.lead_len;
	if (want.payload_len != s->payload_len)
		want.padding = 0; /* a packet that grows loses it */
	packet_build(&want, &wanted);
	expect_frame(&got, &wanted);
}

void conn_use_wire(struct conn *c, struct wire *wire)
{
	c->wire = wire;
	c->meeting.ifindex = wire->near;
}

void conn_go_by_wire(struct conn *c, struct wire *wire, bool partial, uint16_t segment_size)
{
	conn_use_wire(c, wire);
	c->by_wire = true;
	c->partial = partial;
	c->segment_size = segment_size;
}

void conn_transmit(struct conn *c, size_t from, size_t to)
{
	struct segment s = conn_segment(c, from, to);

	conn_transmit_as(c, &s);
}

size_t conn_send(struct conn *c, const char *marked)
{
	size_t from = stream_write_marked(&c->stream, marked);

	conn_transmit(c, from, c->stream.len);
	return from;
}

/* Write the options of a peer's segment, with its blocks as numbers. Returns their length. */
static size_t incoming_options(const struct conn *c, const struct incoming *in, bool app,
			       uint8_t *ret_options)
{
	uint32_t edge[8];
	size_t len = in->timestamps ? tcp_timestamps(ret_options) : 0, blocks = 0;

	for (size_t i = 0; i < in->sacks; i++) {
		size_t left = in->sack[i].left, right = in->sack[i].right;

		if (app) {
			left = stream_to_app_up(&c->stream, left);
			right = stream_to_app(&c->stream, right);
		}
		if (app && left >= right)
			continue;
		edge[2 * blocks] = c->stream.first + left;
		edge[2 * blocks++ + 1] = c->stream.first + right;
	}
	return len + tcp_sack(ret_options + len, in->sacks, edge, blocks);
}

struct segment conn_incoming(const struct conn *c, const struct incoming *in, uint8_t *ret_options)
{
	size_t len = in->data ? strlen(in->data) : 0;

	return (struct segment){
	    .shape = c->shape,
	    .from_peer = true,
	    .port = c->port,
	    .seq = c->peer_next,
	    .ack = c->stream.first + in->ack,
	    .flags = ACK | in->more | (len ? PSH : 0),
	    .window = in->zero_window ? 0
		      : in->window    ? in->window
				      : c->peer_window,
	    .options = ret_options,
	    .options_len = incoming_options(c, in, false, ret_options),
	    .payload = (const uint8_t *)in->data,
	    .payload_len = len,
	    .partial = c->partial && c->wire->kind == WIRE_FORWARDED,
	};
}

/* The window that is left for app bytes when headers, those in flight and the next, have taken
 * their part. */
uint16_t conn_app_window(const struct conn *c, uint16_t window, size_t ack)
{
	size_t bytes = (size_t)window << c->wscale;
	size_t taken = stream_inserted_from(&c->stream, ack);

	if (!c->wscale_known)
		return window;
	if (stream_inserted(&c->stream) && window >= 8 && bytes >= 4096)
		taken += LINE_LEN;
	return taken == 0 ? window : bytes > taken ? (bytes - taken) >> c->wscale : 0;
}

void conn_receive(struct conn *c, const struct incoming *in)
{
	uint8_t wire_options[40], app_options[40];
	struct segment s = conn_incoming(c, in, wire_options), want = s;

	want.ack = c->stream.first + stream_to_app(&c->stream, in->ack);
	want.window = conn_app_window(c, s.window, in->ack);
	want.options = app_options;
	incoming_options(c, in, true, app_options);
	conn_expect(c, &s, &want);
	c->peer_next += s.payload_len + !!(in->more & FIN);
}

void conn_ack(struct conn *c, size_t ack)
{
	conn_receive(c, &(struct incoming){.ack = ack});
}

void conn_ack_all(struct conn *c)
{
	conn_ack(c, stream_to_wire(&c->stream, c->stream.len));
}

void conn_answer(struct conn *c, const char *data)
{
	conn_receive(
	    c, &(struct incoming){.ack = stream_to_wire(&c->stream, c->stream.len), .data = data});
}

struct flow conn_flow(const struct conn *c)
{
	struct flow f;

	if (!rig_flow(c->rig, &c->shape, c->port, &f))
		fail_msg("there is no flow of port %u", c->port);
	return f;
}

uint32_t conn_in_flight(const struct conn *c)
{
	struct flow f = conn_flow(c);

	return edits_count(&f.edits);
}

uint32_t conn_base(const struct conn *c)
{
	struct flow f = conn_flow(c);

	return edits_base(&f.edits);
}

bool conn_is_known(const struct conn *c)
{
	struct flow f;

	return rig_flow(c->rig, &c->shape, c->port, &f);
}
