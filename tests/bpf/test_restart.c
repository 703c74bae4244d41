// SPDX-License-Identifier: Apache-2.0
/*
 * Rules that say restart or strip: trace fields are changed in place, not a byte more or less, and
 * the same bytes on every transmission.
 */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <cmocka.h>

#include "conn.h"
#include "link.h"
#include "random.h"
#include "rules.h"
#include "topics.h"

#define IDS   "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7"
#define VALUE "00-" IDS "-01"

/* For packets of local sockets, and for others. */
#define RULE(what) "policy add " what "\npolicy add dir forward " what "\n"
#define RESTART    RULE("action restart")
#define STRIP      RULE("action strip")

static struct conn conn;

/* Write a text: '<' and '>' stand around bytes that may change, '^' for a header. */
static size_t write_text(const char *text)
{
	size_t from = conn.stream.len, open = from;

	for (; *text; text++) {
		if (*text == '<')
			open = conn.stream.len;
		else if (*text == '>')
			stream_open(&conn.stream, open, conn.stream.len);
		else if (*text == '^')
			stream_expect_edit(&conn.stream, conn.stream.len);
		else
			stream_write(&conn.stream, text, 1);
	}
	return from;
}

static size_t send_text(const char *text)
{
	size_t from = write_text(text);

	conn_transmit(&conn, from, conn.stream.len);
	return from;
}

/* The wire bytes of app bytes [from, to), headers left out. */
static const char *changed_text(size_t from, size_t to)
{
	static char text[STREAM_MAX + 1];

	for (size_t a = from; a < to; a++)
		text[a - from] = (char)stream_changed(&conn.stream, a);
	text[to - from] = 0;
	return text;
}

static void is_text(size_t from, const char *want)
{
	assert_string_equal(changed_text(from, conn.stream.len), want);
}

static void begin_again(struct rig *rig)
{
	conn_open(&conn, rig, &ordinary);
	rig_forget_counts(rig);
}

static void begin(struct rig *rig, const char *policy)
{
	rules_follow(rig, policy);
	begin_again(rig);
}

static void stripped(void **state)
{
	size_t at;

	begin(*state, STRIP);
	at = send_text("GET / HTTP/1.1\r\nHost: a\r\n<Traceparent: " VALUE ">\r\nX: y\r\n"
		       "<tracestate:a=1,b=2 >\r\n\r\n");
	is_text(at, "GET / HTTP/1.1\r\nHost: a\r\nx-ctxprop-0:"
		    "========================================================"
		    "\r\nX: y\r\nx-ctxprop0:========\r\n\r\n");
	expect_counts(conn.rig, {REASON_STRIPPED, 1}, {REASON_CHANGED, 1});
	/* Without blanks, without value, right behind the request line; lines that end with LF. */
	at = send_text("GET / HTTP/1.1\n<traceparent:>\n<tracestate: \t>\n\n");
	is_text(at, "GET / HTTP/1.1\nx-ctxprop-0:\nx-ctxprop0:==\n\n");
	expect_counts(conn.rig, {REASON_STRIPPED, 1}, {REASON_CHANGED, 1});
	at = send_text("GET / HTTP/1.1\r\n\r\n");
	expect_counts(conn.rig, {REASON_STRIPPED, 1});
	at = send_text("GET / HTTP/1.1\r\n<traceparent:x>\r\n<TRACEPARENT: y>\r\n\r\n");
	is_text(at, "GET / HTTP/1.1\r\nx-ctxprop-0:=\r\nx-ctxprop-0:==\r\n\r\n");
	expect_counts(conn.rig, {REASON_STRIPPED, 1}, {REASON_CHANGED, 1});
	conn_transmit(&conn, 0, conn.stream.len);
	conn_transmit(&conn, 50, 90);
	conn_ack_all(&conn);
	assert_int_equal(conn_in_flight(&conn), 0);
	assert_int_equal(conn_base(&conn), 0);
	rules_none(*state);
}

/* A value of a new trace: version 00, both flags, and none of the ids that were there. */
static void is_new_value(const char *value)
{
	static const char form[] = "00-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-xxxxxxxxxxxxxxxx-03";

	for (size_t i = 0; form[i]; i++)
		if (form[i] == 'x' ? !strchr("0123456789abcdef", value[i]) : value[i] != form[i])
			fail_msg("no new value: \"%.55s\"", value);
	assert_int_not_equal(memcmp(value + 3, IDS, 32), 0);
	assert_int_not_equal(memcmp(value + 36, IDS + 33, 16), 0);
}

static void restarted(void **state)
{
	const char *text;
	size_t at;

	begin(*state, RESTART);
	at = send_text("GET / HTTP/1.1\r\ntraceparent: <" VALUE ">\r\nX: y\r\n"
		       "<tracestate: a=1>\r\n\r\n");
	expect_counts(conn.rig, {REASON_RESTARTED, 1}, {REASON_CHANGED, 1});
	text = changed_text(at, conn.stream.len);
	is_new_value(text + 29);
	assert_string_equal(text + 29 + 55, "\r\nX: y\r\nx-ctxprop0:====\r\n\r\n");
	/* A higher version has more of a value; blanks around it; a second field. */
	at = send_text("GET / HTTP/1.1\r\nTRACEPARENT: \t <cc-" IDS "-01-what \t>\r\n"
		       "<traceparent: " VALUE ">\r\n\r\n");
	expect_counts(conn.rig, {REASON_RESTARTED, 1}, {REASON_CHANGED, 1});
	text = changed_text(at, conn.stream.len);
	/* Nothing may stand behind the new one. */
	assert_memory_equal(text + 31, "       ", 7);
	is_new_value(text + 31 + 7);
	assert_string_equal(text + 31 + 7 + 55, "\r\nx-ctxprop-0:"
						"========================================"
						"================\r\n\r\n");
	conn_transmit(&conn, 0, conn.stream.len);
	conn_ack_all(&conn);
	assert_int_equal(conn_base(&conn), 0);
	rig_forget_counts(conn.rig);
	/* Nothing to restart: a header is added; also where what stands there is too short. */
	send_text("GET / HTTP/1.1\r\nHost: a\r\n^\r\n");
	expect_counts(conn.rig, {REASON_INJECTED, 1}, {REASON_GROWN, 1}, {REASON_EVIDENCE_NONE, 1});
	at = send_text("GET / HTTP/1.1\r\n<traceparent: 1>\r\nHost: a\r\n^\r\n");
	expect_counts(conn.rig, {REASON_INJECTED, 1}, {REASON_GROWN, 1}, {REASON_EVIDENCE_NONE, 1},
		      {REASON_CHANGED, 1});
	is_text(at, "GET / HTTP/1.1\r\nx-ctxprop-0:==\r\nHost: a\r\n\r\n");
	conn_transmit(&conn, at - 5, conn.stream.len);
	conn_ack_all(&conn);
	rules_none(*state);
}

/* Many kinds of packets, their checksums whole or left to the device. */
static void on_the_wire(void **state)
{
	const struct link *link = *state;

	for (int i = 0; i < 4 * SHAPES; i++) {
		struct opening o = ordinary;
		size_t at, half;

		if (!link_carries(link, &shapes[i / 4]))
			continue;
		o.shape = shapes[i / 4];
		rules_follow(link->rig, i & 2 ? RESTART : STRIP);
		link_open(&conn, link, &o);
		conn_go_by_wire(&conn, link->wire, i & 1, i & 1 ? 1408 : 0);
		rig_forget_counts(link->rig);
		/* At even and odd places. */
		send_text(i & 2 ? "GET / HTTP/1.1\r\ntraceparent: <" VALUE ">\r\n\r\n"
				: "GET /x HTTP/1.1\r\n<traceparent: " VALUE ">\r\n\r\n");
		send_text("GET /x HTTP/1.1\r\n<tracestate: a=1>\r\n<traceparent: " VALUE
			  ">\r\n\r\n");
		/* A body, and deep behind it another request: one packet, where the device cuts. */
		at = write_text("POST / HTTP/1.1\r\nContent-Length: 5001\r\n"
				"<traceparent: " VALUE ">\r\n\r\n");
		for (int n = 0; n < 5001; n++)
			stream_write(&conn.stream, "b", 1);
		write_text("GET / HTTP/1.1\r\n<traceparent: " VALUE ">\r\nX: y\r\n\r\n");
		conn_transmit(&conn, at, i & 1 ? conn.stream.len : at + 200);
		for (half = at + 200; !(i & 1) && half < conn.stream.len; half += 1000)
			conn_transmit(&conn, half,
				      half + 1000 < conn.stream.len ? half + 1000
								    : conn.stream.len);
		assert_int_equal(rig_count(link->rig, i & 2 ? REASON_RESTARTED : REASON_STRIPPED),
				 4);
		conn_transmit(&conn, 3, 900);
		conn_transmit(&conn, conn.stream.len - 60, conn.stream.len - 1);
		conn_ack_all(&conn);
	}
	rules_none(link->rig);
}

/* With headers of the same flow: changed first, then made longer, or split. */
static void with_headers(void **state)
{
	const struct link *link = *state;
	struct opening o = ordinary;
	size_t at;

	o.shape = *link_shape(link);
	for (int partial = 0; partial < 2; partial++) {
		rules_follow(link->rig, RULE("host a action strip") RULE("host b action restart"));
		link_open(&conn, link, &o);
		conn_go_by_wire(&conn, link->wire, partial, partial ? 1408 : 0);
		rig_forget_counts(link->rig);
		/* Grown: a header before and behind. */
		send_text("GET / HTTP/1.1\r\nHost: c\r\n^\r\n"
			  "GET / HTTP/1.1\r\nHost: a\r\n<traceparent: " VALUE ">\r\n\r\n"
			  "GET / HTTP/1.1\r\nHost: b\r\ntraceparent: <" VALUE ">\r\n\r\n"
			  "GET / HTTP/1.1\r\nHost: b\r\n^\r\n");
		expect_counts(link->rig, {REASON_INJECTED, 2}, {REASON_EVIDENCE_NONE, 2},
			      {REASON_STRIPPED, 1}, {REASON_RESTARTED, 1}, {REASON_CHANGED, 1},
			      {REASON_GROWN, 1});
		conn_transmit(&conn, 10, conn.stream.len - 3);
		conn_ack_all(&conn);
		rig_forget_counts(link->rig);
		/* Split: the header stands before the fields, and the lead may have some of them.
		 */
		at = write_text("POST / HTTP/1.1\r\n^Host: b\r\n<traceparent: 12>\r\n"
				"<tracestate: 34>\r\nContent-Length: 1330\r\n\r\n");
		for (int n = 0; n < 1330; n++)
			stream_write(&conn.stream, "b", 1);
		conn_transmit(&conn, at, conn.stream.len);
		expect_counts(link->rig, {REASON_INJECTED, 1}, {REASON_EVIDENCE_NONE, 1},
			      {REASON_CHANGED, 1}, {REASON_SPLIT, 1}, {REASON_LEAD, 1});
		conn_transmit(&conn, at, conn.stream.len);
		conn_transmit(&conn, at + 30, conn.stream.len);
		conn_ack_all(&conn);
		assert_int_equal(conn_base(&conn), 3 * LINE_LEN);
	}
	rules_none(link->rig);
}

/*
 * A retransmission of changed bytes, cut to fragments on its way. Whether the others have some of
 * them is not known: what is known leaves as a packet that is whole.
 */
static void in_fragments(void **state)
{
	const struct link *link = *state;

	for (int i = 0; i < 2 * SHAPES; i++) {
		struct opening o = ordinary;

		if (!link_carries(link, &shapes[i / 2]) || shapes[i / 2].tags)
			continue;
		o.shape = shapes[i / 2];
		rules_follow(link->rig, i & 1 ? RESTART : STRIP);
		link_open(&conn, link, &o);
		conn_go_by_wire(&conn, link->wire, false, 0);
		send_text(i & 1 ? "GET / HTTP/1.1\r\ntraceparent: <" VALUE ">\r\n\r\n"
				: "GET / HTTP/1.1\r\n<traceparent: " VALUE ">\r\n\r\n");
		link_replaces_fragment(&conn, 0, conn.stream.len);
		link_replaces_fragment(&conn, 0, 16);
		link_replaces_fragment(&conn, 40, conn.stream.len);
		link_replaces_fragment(&conn, 0, 60);
		conn_transmit(&conn, 0, conn.stream.len);
		conn_ack_all(&conn);
	}
	rules_none(link->rig);
}

/* A change is kept until all of its bytes are acknowledged. */
static void acknowledged_in_part(void **state)
{
	size_t at, end;

	begin(*state, RESTART);
	at = send_text("GET / HTTP/1.1\r\ntraceparent: <" VALUE ">\r\n\r\n");
	end = conn.stream.len;
	for (size_t ack = at; ack < at + 29 + 55; ack++) {
		conn_ack(&conn, ack);
		assert_int_equal(conn_in_flight(&conn), 1);
		conn_transmit(&conn, ack, end);
	}
	conn_ack(&conn, at + 29 + 55);
	assert_int_equal(conn_in_flight(&conn), 0);
	rules_none(*state);
}

/* What hinders it is counted, and then not a byte is changed. */
static void left_as_it_is(void **state)
{
	static const char get[] = "GET / HTTP/1.1\r\n<traceparent: " VALUE ">\r\n"
				  "<tracestate: a=1>\r\n\r\n";
	size_t at;

	begin(*state, STRIP);
	rig_pause(*state, true);
	at = send_text(get);
	expect_counts(conn.rig, {REASON_PAUSED, 1});
	rig_pause(*state, false);
	/* Two edits each; the ring has sixteen places, one of which is kept free. */
	for (int i = 0; i < 7; i++)
		send_text(get);
	expect_counts(conn.rig, {REASON_STRIPPED, 7}, {REASON_CHANGED, 7});
	at = send_text(get);
	expect_counts(conn.rig, {REASON_EDITS_FULL, 1});
	assert_non_null(strstr(changed_text(at, conn.stream.len), "traceparent: " VALUE));
	conn_ack_all(&conn);
	rig_forget_counts(conn.rig);
	/* More fields than are looked at. */
	at = write_text("GET / HTTP/1.1\r\n");
	for (int i = 0; i < 9; i++)
		write_text("<traceparent: 1>\r\n");
	write_text("\r\n");
	conn_transmit(&conn, at, conn.stream.len);
	expect_counts(conn.rig, {REASON_EDITS_FULL, 1});
	/* The peer's packets are not seen: nobody would say when to forget. */
	conn_meet(&conn, *state, &ordinary);
	rig_forget_counts(conn.rig);
	send_text(get);
	assert_int_equal(rig_count(conn.rig, REASON_STRIPPED), 0);
	rules_none(*state);
}

/* How a receiver reads a head: which fields of these names have a value? */
struct reading {
	int parents, states; /* fields with this name */
	int values;          /* of these: with a value */
	const char *parent;  /* value of the last traceparent */
};

static struct reading read_head(const char *head)
{
	struct reading r = {};

	for (const char *line = strstr(head, "\r\n"); line && line[2] != '\r';
	     line = strstr(line + 2, "\r\n")) {
		const char *name = line + 2, *value = strchr(name, ':');
		bool parent = !strncasecmp(name, "traceparent:", 12);
		bool state = !strncasecmp(name, "tracestate:", 11);

		if (!value)
			return r;
		value++;
		value += strspn(value, " \t");
		r.parents += parent;
		r.states += state;
		r.values += (parent || state) && *value != '\r';
		if (parent)
			r.parent = value;
	}
	return r;
}

static void is_fulfilled(bool restart, const struct reading *r, uint64_t headers)
{
	assert_int_equal(r->states, 0);
	if (!restart) {
		assert_int_equal(r->parents, 0);
		return;
	}
	assert_int_equal(r->parents + headers, 1);
	if (r->parents)
		is_new_value(r->parent);
}

/* One head in two packets. Returns whether it is as the rule says. */
static bool cut_at(struct rig *rig, const char *head, bool restart, size_t cut)
{
	uint64_t headers;
	struct reading r;
	size_t len;

	begin_again(rig);
	conn.discover = true; /* where a header stands, if there is one */
	write_text(head);
	len = conn.stream.len;
	conn_transmit(&conn, 0, cut);
	conn_transmit(&conn, cut, len);
	headers = rig_count(rig, REASON_INJECTED);
	r = read_head(changed_text(0, len));
	conn_transmit(&conn, cut / 2, len);
	conn_ack_all(&conn);
	assert_int_equal(conn_in_flight(&conn), 0);
	if (!rig_count(rig, REASON_NO_PLACE)) {
		is_fulfilled(restart, &r, headers);
		return true;
	}
	assert_int_equal(
	    rig_count(rig, REASON_RESTARTED) + rig_count(rig, REASON_STRIPPED) + headers, 0);
	/* What was still to come of the old ids did not. */
	assert_null(strstr(changed_text(0, len), IDS));
	return false;
}

/*
 * The packet ends at any byte of the head. What left before the field was known cannot be changed;
 * that is counted, and then the old ids are gone at least.
 */
static void cut_anywhere(void **state)
{
	static const char *const heads[] = {
	    "GET / HTTP/1.1\r\nHost: a\r\n<Traceparent: " VALUE ">\r\nX: y\r\n"
	    "<tracestate: a=1,b=2>\r\nY: z\r\n\r\n",
	    "GET / HTTP/1.1\r\n<tracestate: a=1>\r\n<Traceparent:" VALUE " >\r\n"
	    "<Traceparent: x>\r\n\r\n",
	};

	for (int i = 0; i < 4; i++) {
		unsigned int fulfilled = 0, cuts = 0;

		rules_follow(*state, i & 1 ? RESTART : STRIP);
		for (size_t cut = 1; cut; cuts++) {
			fulfilled += cut_at(*state, heads[i / 2], i & 1, cut);
			cut = cut + 1 < conn.stream.len ? cut + 1 : 0;
		}
		/* Only in the few bytes between a name and the end of its value it fails. */
		assert_true(fulfilled > cuts * 3 / 4);
	}
	rules_none(*state);
}

int test_restart(void)
{
	const struct CMUnitTest packets[] = {
	    cmocka_unit_test(stripped),
	    cmocka_unit_test(restarted),
	    cmocka_unit_test(acknowledged_in_part),
	    cmocka_unit_test(left_as_it_is),
	    cmocka_unit_test(cut_anywhere),
	};
	const struct CMUnitTest links[] = {
	    cmocka_unit_test(on_the_wire),
	    cmocka_unit_test(with_headers),
	    cmocka_unit_test(in_fragments),
	};
	int failed = cmocka_run_group_tests(packets, rig_setup, rig_teardown);

	failed += cmocka_run_group_tests_name("local", links, link_setup, link_teardown);
	failed +=
	    cmocka_run_group_tests_name("forwarded", links, link_setup_forwarded, link_teardown);
	failed += cmocka_run_group_tests_name("tun", links, link_setup_tun, link_teardown);
	return failed;
}
