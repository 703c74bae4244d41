// SPDX-License-Identifier: Apache-2.0
/*
 * Two live connections between the same addresses and ports, which a node keeps apart by devices:
 * the first one is injected and goes on, the packets of the other are never touched.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "ending.h"
#include "link.h"
#include "topics.h"

static struct conn first, twin;

/* The other connection comes over the link; its numbers are others. */
static void meet_twin(const struct link *link, const struct opening *opening)
{
	link->rig->port--;
	conn_meet(&twin, link->rig, opening);
	twin.meeting.ifindex = link->wire->near;
}

/* Numbers anywhere, or such as two namespaces of one machine draw for the same tuple at once. */
static struct opening other_numbers(const struct shape *shape)
{
	struct opening o = ordinary;

	o.shape = *shape;
	o.isn += 0x40000000;
	o.peer_isn += 0x50000000;
	return o;
}

static struct opening near_numbers(const struct shape *shape)
{
	struct opening o = ordinary;

	o.shape = *shape;
	o.isn += 6001;
	o.peer_isn += 7003;
	return o;
}

static void open_twin(const struct link *link, const struct opening *opening)
{
	uint8_t options[40];
	struct segment s;

	meet_twin(link, opening);
	s = conn_segment(&twin, 0, 0);
	s.seq = opening->isn;
	s.ack = 0;
	s.flags = SYN;
	conn_pass(&twin, &s);
	s = conn_syn_ack(&twin, opening, options);
	conn_pass(&twin, &s);
	s = conn_segment(&twin, 0, 0);
	conn_pass(&twin, &s);
}

static void open_first(void **state, const struct shape *shape)
{
	struct opening o = ordinary;

	o.shape = *shape;
	link_open(&first, *state, &o);
}

/* Neither its requests nor what acknowledges them is changed. */
static void twin_talks(void)
{
	for (int i = 0; i < 3; i++) {
		conn_send(&twin, PLAIN);
		conn_answer(&twin, ANSWER);
		conn_transmit(&twin, 0, twin.stream.len);
		conn_ack_all(&twin);
	}
}

/* Each request of the first one gets a header, and comes again as it was. */
static void first_talks(void)
{
	size_t from = conn_send(&first, GET);

	twin_talks();
	conn_transmit(&first, from, first.stream.len);
	twin_talks();
	conn_answer(&first, ANSWER);
	conn_ack_all(&first);
}

static void the_first_one_goes_on(void **state)
{
	for (size_t i = 0; i < (size_t)2 * SHAPES; i++) {
		const struct shape *shape = &shapes[i / 2];
		struct opening o = i & 1 ? near_numbers(shape) : other_numbers(shape);

		if (shape->ip_device)
			continue;
		open_first(state, shape);
		conn_send(&first, GET);
		open_twin(*state, &o);
		rig_forget_counts(first.rig);
		for (int j = 0; j < 3; j++)
			first_talks();
		assert_int_equal(rig_count(first.rig, REASON_INJECTED), 3);
		assert_true(rig_count(first.rig, REASON_TWIN) > 0);
	}
}

/* The second one begins between two packets of the first one's opening. */
static void both_open_at_once(void **state)
{
	struct opening o = near_numbers(&ordinary.shape);
	uint8_t options[40];
	struct segment s;

	link_open(&first, *state, &ordinary);
	conn_meet(&first, first.rig, &ordinary);
	s = conn_segment(&first, 0, 0);
	s.seq = ordinary.isn;
	s.flags = SYN;
	conn_pass(&first, &s);
	meet_twin(*state, &o);
	s = conn_segment(&twin, 0, 0);
	s.seq = o.isn;
	s.flags = SYN;
	conn_pass(&twin, &s);
	s = conn_syn_ack(&first, &ordinary, options);
	conn_pass(&first, &s);
	first.wscale_known = true;
	s = conn_syn_ack(&twin, &o, options);
	conn_pass(&twin, &s);
	twin_talks();
	first_talks();
	assert_int_equal(rig_count(first.rig, REASON_INJECTED), 1);
}

/* What is left alone stays so, for the other one's sake, too. */
static void the_first_one_is_left_alone(void **state)
{
	struct opening o = near_numbers(&ordinary.shape);

	open_first(state, &ordinary.shape);
	conn_send(&first, TLS);
	open_twin(*state, &o);
	for (int i = 0; i < 3; i++) {
		twin_talks();
		conn_send(&first, PLAIN);
		conn_answer(&first, ANSWER);
	}
	assert_int_equal(rig_count(first.rig, REASON_INJECTED), 0);
}

/* By its numbers alone, if it comes by the same device after all: as by another slave of a bond. */
static void on_the_same_way(void **state)
{
	struct opening o = other_numbers(&ordinary.shape);

	open_first(state, &ordinary.shape);
	conn_send(&first, GET);
	open_twin(*state, &o);
	twin.meeting.ifindex = 0;
	first_talks();
	/* One of two numbers is near by chance. */
	o.peer_isn = ordinary.peer_isn + 5000;
	open_twin(*state, &o);
	first_talks();
	o = other_numbers(&ordinary.shape);
	o.isn = ordinary.isn + 5000;
	open_twin(*state, &o);
	first_talks();
}

static void end_twin(uint8_t flag)
{
	struct segment s = conn_segment(&twin, twin.stream.len, twin.stream.len);

	s.flags |= flag;
	conn_pass(&twin, &s);
	s = (struct segment){.shape = twin.shape,
			     .from_peer = true,
			     .port = twin.port,
			     .seq = twin.peer_next,
			     .ack = s.seq + 1,
			     .flags = ACK | flag,
			     .window = 500};
	conn_pass(&twin, &s);
}

/* Its FIN and its RST end nothing, and its SYN may come again. */
static void the_twin_ends(void **state)
{
	static const uint8_t flags[] = {RST, FIN};
	struct opening o = near_numbers(&ordinary.shape);

	open_first(state, &ordinary.shape);
	conn_send(&first, GET);
	for (size_t i = 0; i < sizeof(flags); i++) {
		open_twin(*state, &o);
		twin_talks();
		end_twin(flags[i]);
		assert_true(conn_is_known(&first));
		first_talks();
		o.isn += 100000;
	}
}

/* What is left of the first one is not for the other. */
static void the_first_one_ends(void **state)
{
	struct opening o = near_numbers(&ordinary.shape);
	struct segment s;

	open_first(state, &ordinary.shape);
	conn_send(&first, GET);
	open_twin(*state, &o);
	twin_talks();
	conn_send_fin(&first);
	conn_receive_fin(&first, true);
	s = conn_our_ack(&first, true);
	conn_expect_shift(&first, &s, LINE_LEN);
	conn_expect_gone(&first, LINE_LEN);
	s = conn_our_ack(&twin, false);
	conn_pass(&twin, &s);
	conn_receive(&twin, &(struct incoming){.ack = twin.stream.len, .data = ANSWER});
	s = conn_our_ack(&first, true);
	conn_expect_shift(&first, &s, LINE_LEN);
}

/* Packets of the first one that come another way are its own: routes change. */
static void another_way(void **state)
{
	const struct link *link = *state;

	open_first(state, &ordinary.shape);
	for (int i = 0; i < 6; i++) {
		size_t from;

		first.meeting.ifindex = i & 1 ? link->wire->near : 0;
		from = conn_send(&first, GET);
		conn_transmit(&first, from, first.stream.len);
		first.meeting.ifindex = i & 2 ? link->wire->near : 0;
		conn_answer(&first, ANSWER);
	}
	assert_int_equal(rig_count(first.rig, REASON_INJECTED), 6);
	assert_int_equal(rig_count(first.rig, REASON_TWIN), 0);
}

/* Both are older than the programs, which cannot tell who is who before it is too late. */
static void both_are_older(void **state)
{
	struct opening o = other_numbers(&ordinary.shape);
	const struct link *link = *state;

	if (!link->wire)
		skip();
	conn_meet(&first, link->rig, &ordinary);
	meet_twin(link, &o);
	for (int i = 0; i < 3; i++) {
		conn_send(&first, PLAIN);
		twin_talks();
		conn_answer(&first, ANSWER);
		twin_talks();
	}
	assert_int_equal(conn_flow(&first).opaque_reason, REASON_TWIN);
	assert_int_equal(rig_count(first.rig, REASON_INJECTED), 0);
}

/* One that is older, and passes twice: nothing is changed, either time. */
static void an_older_one_that_passes_twice(void **state)
{
	const struct link *link = *state;

	conn_meet(&first, link->rig, &ordinary);
	for (int i = 0; i < 3; i++) {
		size_t from = conn_send(&first, PLAIN);
		struct segment s = conn_segment(&first, from, first.stream.len);

		s.hops = 1;
		conn_pass(&first, &s);
		conn_answer(&first, ANSWER);
	}
	assert_int_equal(conn_flow(&first).opaque_reason, REASON_TWICE);
	assert_int_equal(rig_count(first.rig, REASON_INJECTED), 0);
}

int test_twin(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_first_one_goes_on),
	    cmocka_unit_test(both_open_at_once),
	    cmocka_unit_test(the_first_one_is_left_alone),
	    cmocka_unit_test(on_the_same_way),
	    cmocka_unit_test(the_twin_ends),
	    cmocka_unit_test(the_first_one_ends),
	    cmocka_unit_test(another_way),
	    cmocka_unit_test(both_are_older),
	    cmocka_unit_test(an_older_one_that_passes_twice),
	};

	return cmocka_run_group_tests_name("twin", tests, link_setup, link_teardown);
}
