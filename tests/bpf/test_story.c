// SPDX-License-Identifier: Apache-2.0
/*
 * Random lives of connections: requests of all kinds, cut, segmented, sent again, acknowledged
 * and selectively acknowledged at random. Every packet is compared as a whole, and in the end
 * every request has one header at most, within its own head. A failure names its seed.
 *
 * In the environment: CTXPROP_SEEDS, how many lives; CTXPROP_SEED, which one is the first.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cause.h"
#include "link.h"
#include "random.h"
#include "topics.h"

#define SEEDS        150
#define STEPS        80
#define REQUESTS_MAX 60
#define MSS          1400
/* What one packet is rewritten for; more than that only arrives in parts. */
#define RETRANSMIT_MAX 3500

/* Where a header may stand: behind the first line, up to the blank line. */
struct head {
	size_t from, to;
};

struct story {
	struct random random;
	struct conn conn;
	size_t next;  /* app offset: one past the highest byte that passed */
	size_t whole; /* app offset: the first byte that never passed */
	bool lossy;   /* packets are lost before they come by */
	size_t acked; /* wire offset */
	size_t requests;
	struct head head[REQUESTS_MAX];
	bool passed[STREAM_MAX]; /* by app offset */
};

static struct story story;
static uint64_t seed;

static void write_text(struct story *s, const char *text)
{
	stream_write(&s->conn.stream, text, strlen(text));
}

static void write_filler(struct story *s, size_t len)
{
	while (len--)
		stream_write(&s->conn.stream, &"GET / HTTP/1.1\r\n"[random_in(&s->random, 0, 13)],
			     1);
}

static void write_fields(struct story *s, size_t n)
{
	while (n--) {
		write_text(s, "Field-Name: ");
		write_filler(s,
			     random_in(&s->random, 1, random_once_in(&s->random, 8) ? 1500 : 30));
		write_text(s, "\r\n");
	}
}

static void write_chunks(struct story *s, size_t n)
{
	char line[20];

	while (n--) {
		size_t len = random_in(&s->random, 1, 400);

		snprintf(line, sizeof(line), "%zx\r\n", len);
		write_text(s, line);
		write_filler(s, len);
		write_text(s, "\r\n");
	}
	write_text(s, "0\r\n\r\n");
}

/* What is sent there comes from a socket: the probes could have said why. */
static bool has_socket(const struct conn *c)
{
	return c->by_wire && c->wire->kind == WIRE_LOCAL;
}

/* The request that begins with byte `seq` belongs to another one, of the same number. */
static void say_cause(struct story *s, uint32_t seq)
{
	char state[513];
	int len = snprintf(state, sizeof(state), "r=%zu", s->requests);
	uint32_t more = random_in(&s->random, 0, random_once_in(&s->random, 5) ? 250 : 40);

	while (more--)
		state[len++] = "v;: "[random_in(&s->random, 0, 2)];
	state[len] = 0;
	cause_say(&s->conn, seq, s->requests, random_once_in(&s->random, 4) ? NULL : state);
}

/* A child is one of the request with its number, and its tracestate goes with it. */
static void check_cause(const struct stream_edit *e, unsigned int request)
{
	char trace[40], state[40];
	const char *state_at;
	int len;

	snprintf(trace, sizeof(trace), CAUSE_TRACE "%08x", request);
	if (memcmp(e->text + 16, CAUSE_TRACE, strlen(CAUSE_TRACE)) != 0)
		return assert_int_equal(e->len, LINE_LEN);
	assert_memory_equal(e->text + 16, trace, 32);
	if (e->len == LINE_LEN)
		return;
	state_at = e->text + LINE_LEN + strlen("tracestate: ");
	assert_memory_equal(e->text + LINE_LEN, "tracestate: ", strlen("tracestate: "));
	state_at += *state_at == ' ';
	len = snprintf(state, sizeof(state), "r=%u", request);
	assert_memory_equal(state_at, state, len);
	assert_false(state_at[len] >= '0' && state_at[len] <= '9');
}

static void write_request(struct story *s)
{
	struct head *head = &s->head[s->requests++];
	uint32_t kind = random_in(&s->random, 0, 3);
	size_t body = random_in(&s->random, 0, random_once_in(&s->random, 4) ? 4000 : 50);
	uint32_t start = s->conn.stream.first + s->conn.stream.len;
	char line[60];

	write_text(s, kind ? "POST /" : "GET /");
	for (uint32_t n = random_in(&s->random, 0, 20); n; n--)
		write_text(s, "x");
	write_text(s, " HTTP/1.1\r\n");
	if (has_socket(&s->conn) && random_once_in(&s->random, 2))
		say_cause(s, start);
	head->from = s->conn.stream.len;
	write_fields(s, random_in(&s->random, 0, 4));
	if (kind == 1)
		write_text(s, "Transfer-Encoding: chunked\r\n");
	snprintf(line, sizeof(line), "Content-Length: %zu\r\n", body);
	if (kind > 1)
		write_text(s, line);
	head->to = s->conn.stream.len;
	write_text(s, "\r\n");
	if (kind == 1)
		write_chunks(s, body % 5);
	else if (kind > 1)
		write_filler(s, body);
}

/* Send app bytes; a header may be added only in front of bytes that were never sent. */
static void transmit(struct story *s, size_t from, size_t to)
{
	size_t edits = s->conn.stream.edits;

	conn_transmit(&s->conn, from, to);
	for (; edits < s->conn.stream.edits; edits++)
		assert_true(s->conn.stream.edit[edits].at >= s->next);
	if (to > s->next)
		s->next = to;
	memset(s->passed + from, true, to - from);
	while (s->whole < s->conn.stream.len && s->passed[s->whole])
		s->whole++;
}

static size_t packet_end(struct story *s, size_t from)
{
	uint32_t large = s->lossy ? RETRANSMIT_MAX : 20000;
	uint32_t most = s->conn.segment_size && random_once_in(&s->random, 3) ? large : MSS;
	uint32_t len = random_in(&s->random, 1, random_once_in(&s->random, 3) ? 60 : most);

	return from + len < s->conn.stream.len ? from + len : s->conn.stream.len;
}

static void send_new(struct story *s)
{
	size_t from = s->next;

	if (s->lossy && random_once_in(&s->random, 4))
		from = packet_end(s, from);
	if (from < s->conn.stream.len)
		transmit(s, from, packet_end(s, from));
}

static size_t unacknowledged(const struct story *s)
{
	return stream_to_app(&s->conn.stream, s->acked);
}

static void send_again(struct story *s)
{
	size_t una = unacknowledged(s), from, to;

	if (una == s->next)
		return;
	from = random_once_in(&s->random, 2) ? una : random_in(&s->random, una, s->next - 1);
	to = packet_end(s, from);
	if (to - from > RETRANSMIT_MAX)
		to = from + RETRANSMIT_MAX;
	if (!s->conn.segment_size && to - from > MSS)
		to = from + MSS;
	transmit(s, from, to);
}

/* How far the peer can have everything. */
static size_t whole_on_wire(const struct story *s)
{
	return stream_to_wire(&s->conn.stream, s->whole);
}

static void random_blocks(struct story *s, struct incoming *in)
{
	size_t end = stream_to_wire(&s->conn.stream, s->next);

	if (s->acked + 2 > end)
		return;
	in->sacks = random_in(&s->random, 0, 3);
	for (size_t i = 0; i < in->sacks; i++) {
		in->sack[i].left = random_in(&s->random, s->acked, end - 1);
		in->sack[i].right = random_in(&s->random, in->sack[i].left + 1, end);
	}
}

static void acknowledge(struct story *s)
{
	struct incoming in = {.window = random_in(&s->random, 3000, 65535)};

	if (random_once_in(&s->random, 2))
		s->acked = random_in(&s->random, s->acked, whole_on_wire(s));
	if (random_once_in(&s->random, 6))
		s->acked = whole_on_wire(s);
	in.ack = s->acked;
	if (random_once_in(&s->random, 3))
		in.data = "HTTP/1.1 200 OK\r\n\r\n";
	else
		random_blocks(s, &in);
	in.timestamps = in.sacks < 4;
	conn_receive(&s->conn, &in);
}

static void step(struct story *s)
{
	switch (random_in(&s->random, 0, 6)) {
	case 0:
	case 1:
		if (s->requests < REQUESTS_MAX && s->conn.stream.len < STREAM_MAX - 12000)
			write_request(s);
		break;
	case 2:
	case 3:
		send_new(s);
		break;
	case 4:
		send_again(s);
		break;
	case 5:
		acknowledge(s);
		break;
	default:
		conn_transmit(&s->conn, s->next, s->next);
	}
}

/* Each header stands within the head of a request of its own. */
static void check_heads(const struct story *s)
{
	const struct stream *stream = &s->conn.stream;
	size_t n = 0;

	for (size_t i = 0; i < s->requests; i++) {
		size_t before = n;

		while (n < stream->edits && stream->edit[n].at >= s->head[i].from &&
		       stream->edit[n].at <= s->head[i].to)
			check_cause(&stream->edit[n++], i + 1);
		assert_in_range(n - before, 0, 1);
	}
	assert_int_equal(n, stream->edits);
}

/* Every request was decided, once. */
static void check_counts(const struct story *s)
{
	static const enum ctxprop_reason others[] = {REASON_EDITS_FULL, REASON_DEEP, REASON_WINDOW};
	uint64_t decided = rig_count(s->conn.rig, REASON_INJECTED);

	assert_int_equal(decided, s->conn.stream.edits);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		decided += rig_count(s->conn.rig, others[i]);
	assert_int_equal(decided, s->requests);
	assert_int_equal(rig_count(s->conn.rig, REASON_LOST), 0);
}

/* The end of a life; what is left of it in the flow table would fill that up. */
static void reset(struct story *s)
{
	struct segment rst = conn_segment(&s->conn, s->next, s->next);

	rst.flags = RST | ACK;
	conn_transmit_as(&s->conn, &rst);
	assert_false(conn_is_known(&s->conn));
}

static void finish(struct story *s)
{
	while (s->whole < s->conn.stream.len)
		transmit(s, s->whole, packet_end(s, s->whole));
	check_heads(s);
	assert_int_equal(rig_count(s->conn.rig, REASON_DROPPED), 0);
	if (!s->lossy)
		check_counts(s);
	conn_ack_all(&s->conn);
	assert_int_equal(conn_in_flight(&s->conn), 0);
	assert_int_equal(conn_base(&s->conn), stream_inserted(&s->conn.stream));
	assert_int_equal(cause_kept(&s->conn), 0);
	reset(s);
}

static struct opening random_opening(const struct link *link, struct random *r)
{
	struct opening o = ordinary;

	do
		o.shape = shapes[random_in(r, 0, SHAPES - 1)];
	while (!link_carries(link, &o.shape));
	o.isn = random_once_in(r, 2) ? 0u - random_in(r, 0, 20000) : random_next(r);
	o.mss = random_once_in(r, 4) ? random_in(r, 536, 1460) : 1460;
	o.wscale = random_in(r, 1, 14);
	return o;
}

static void tell(struct link *link, bool by_wire, bool lossy)
{
	struct opening o;

	memset(&story, 0, offsetof(struct story, conn));
	story.random.state = seed;
	story.next = story.whole = story.acked = story.requests = 0;
	story.lossy = lossy;
	memset(story.passed, false, sizeof(story.passed));
	o = random_opening(link, &story.random);
	link_open(&story.conn, link, &o);
	if (by_wire && random_once_in(&story.random, 3))
		conn_go_by_wire(&story.conn, link->wire, false, 0);
	else if (by_wire)
		conn_go_by_wire(&story.conn, link->wire, true, MSS);
	else
		conn_use_wire(&story.conn, link->wire);
	story.conn.discover = true;
	for (int i = 0; i < STEPS; i++)
		step(&story);
	finish(&story);
}

/* Room for the second VLAN tag, which the MTU does not count. */
static int with_room(void **state)
{
	const struct link *link = *state;

	if (link->wire && link->kind != WIRE_TUN)
		wire_set_mtu(link->wire, 1508);
	return 0;
}

static int local(void **state)
{
	link_setup(state);
	return with_room(state);
}

static int forwarded(void **state)
{
	link_setup_forwarded(state);
	return with_room(state);
}

static void tell_many(void **state, bool by_wire, bool lossy)
{
	const char *wanted = getenv("CTXPROP_SEEDS"), *first = getenv("CTXPROP_SEED");
	uint64_t seeds = wanted ? strtoull(wanted, NULL, 10) : SEEDS;

	seed = first ? strtoull(first, NULL, 10) : 1;
	for (uint64_t n = 0; n < seeds; n++, seed++)
		tell(*state, by_wire, lossy);
	seed = 0;
}

static void packet_by_packet(void **state)
{
	tell_many(state, false, false);
}

static void through_the_device(void **state)
{
	tell_many(state, true, false);
}

/* Packets are lost on their way here, and come later: there are holes, in heads too. */
static void with_losses_before(void **state)
{
	tell_many(state, true, true);
}

/* cmocka calls it after a failed test too. */
static int name_seed(void **state)
{
	(void)state;
	if (seed)
		print_error("seed %llu\n", (unsigned long long)seed);
	return 0;
}

int test_story(void)
{
	const struct CMUnitTest stories[] = {
	    cmocka_unit_test_teardown(packet_by_packet, name_seed),
	    cmocka_unit_test_teardown(through_the_device, name_seed),
	    cmocka_unit_test_teardown(with_losses_before, name_seed),
	};
	/* BPF_PROG_TEST_RUN has no packets that a tun device could send on as leads. */
	const struct CMUnitTest tun_stories[] = {
	    cmocka_unit_test_teardown(through_the_device, name_seed),
	    cmocka_unit_test_teardown(with_losses_before, name_seed),
	};
	int failed = cmocka_run_group_tests_name("local", stories, local, link_teardown);

	failed |= cmocka_run_group_tests_name("forwarded", stories, forwarded, link_teardown);
	return failed |
	       cmocka_run_group_tests_name("tun", tun_stories, link_setup_tun, link_teardown);
}
