// SPDX-License-Identifier: Apache-2.0
/* Records for a reader (records.h): of which traces there are any, and how much of a head. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cmocka.h>

#include "records.h"
#include "server.h"
#include "tc.skel.h"
#include "topics.h"
#include "trace/ring.h"

#define OK           "HTTP/1.1 204 No Content\r\n\r\n"
#define HEAD_ROOM    1100
#define ON_ONE       8 /* requests on one connection */
#define REQUESTS_MAX 40000
#define HALF         (RECORDING_SHED_ALL / 2)
#define READ_AT_ONCE 1000000

/* What was read. */
struct told {
	unsigned int begins, ends;
	__u64 bits[REQUESTS_MAX]; /* of the trace of each begin */
	__u64 span[REQUESTS_MAX]; /* of each begin that has no end yet; else 0 */
	__u8 path[REQUESTS_MAX];  /* the first letter of each path */
	struct record_begin last;
};

static struct told told;
static __u64 shed_count, lost_count; /* of the requests of a test */
static struct ring *ring;

static int recording_fd(const struct rig *rig)
{
	return bpf_map__fd(rig->tc->maps.recording);
}

static void record(const struct rig *rig, __u64 until_ns, __u64 shed, __u32 head_max)
{
	const struct recording recording = {
	    .until_ns = until_ns, .shed = shed, .head_max = head_max};
	__u32 zero = 0;

	assert_int_equal(bpf_map_update_elem(recording_fd(rig), &zero, &recording, BPF_ANY), 0);
}

static __u64 shed_now(const struct rig *rig)
{
	struct recording recording;
	__u32 zero = 0;

	assert_int_equal(bpf_map_lookup_elem(recording_fd(rig), &zero, &recording), 0);
	return recording.shed;
}

static void on_begin(const struct record_begin *begin)
{
	__u64 bits;

	assert_true(told.begins < REQUESTS_MAX);
	memcpy(&bits, begin->trace_id + 8, sizeof(bits));
	told.bits[told.begins] = __builtin_bswap64(bits) & (RECORDING_SHED_ALL - 1);
	told.path[told.begins] = begin->head[strlen("GET /")];
	told.span[told.begins++] = begin->span_id;
	told.last = *begin;
}

static void on_end(const struct record_end *end)
{
	unsigned int i = 0;

	told.ends++;
	while (i < told.begins && told.span[i] != end->span_id)
		i++;
	assert_true(i < told.begins); /* no end without a beginning */
	told.span[i] = 0;
	if (end->kind == RECORD_CALLED_END)
		assert_int_equal(end->status, 200 + told.path[i] - '0');
}

static void on_record(void *data, const void *bytes, size_t size)
{
	const struct record_begin *begin = bytes;

	(void)data;
	(void)size;
	if (begin->kind == RECORD_SERVED || begin->kind == RECORD_CALLED)
		on_begin(begin);
	else if (begin->kind == RECORD_SERVED_END || begin->kind == RECORD_CALLED_END)
		on_end(bytes);
}

/* Read all that there is; what was told before is forgotten. */
static void read_records(void)
{
	memset(&told, 0, sizeof(told));
	ring_read(ring, READ_AT_ONCE, on_record, NULL);
	ring_release(ring);
}

static int set_up(void **state)
{
	int err = rig_setup(state);

	if (err)
		return err;
	return ring_open(bpf_map__fd(((struct rig *)*state)->tc->maps.records), &ring);
}

static int tear_down(void **state)
{
	record(*state, 0, 0, 0);
	ring_close(ring);
	return rig_teardown(state);
}

/* A request of a trace with these last bytes, on a connection that is open. */
static void request(struct server *server, __u64 bits, int padding)
{
	char head[HEAD_ROOM + 128];

	snprintf(head, sizeof(head),
		 "GET /path HTTP/1.1\r\ntraceparent: 00-0af7651916cd43dd%016llx-b7ad6b7169203331-01"
		 "\r\nX: %0*d\r\n\r\n",
		 (unsigned long long)bits, padding, 7);
	server_receive(server, head);
	server_send(server, OK);
}

static void leave(struct server *server)
{
	struct incoming rst = {.more = RST, .ack = server->conn.stream.len};

	conn_receive(&server->conn, &rst);
	server_close(server);
}

/* So many requests with random traces. */
static void requests(struct rig *rig, unsigned int count, int padding)
{
	struct server server;

	for (unsigned int i = 0; i < count; i++) {
		if (i % ON_ONE == 0) {
			server_open(&server, rig);
			rig_forget_counts(rig);
		}
		request(&server, (__u64)mrand48() << 32 ^ (__u64)mrand48(), padding);
		if (i % ON_ONE != ON_ONE - 1 && i != count - 1)
			continue;
		shed_count += rig_count(rig, REASON_RECORD_SHED);
		lost_count += rig_count(rig, REASON_RECORD_LOST);
		leave(&server);
	}
}

/* Of a trace either all requests are told of, with their ends, or none is. */
static void by_its_trace(void **state)
{
	const struct rig *rig = *state;
	unsigned int wanted = 400;

	record(rig, UINT64_MAX, HALF, RECORD_HEAD_MAX);
	shed_count = 0;
	requests(*state, wanted, 1);
	read_records();
	assert_in_range(shed_count, wanted / 4, wanted * 3 / 4);
	assert_int_equal(told.begins + shed_count, wanted);
	assert_int_equal(told.ends, told.begins);
	for (unsigned int i = 0; i < told.begins; i++)
		assert_true(told.bits[i] >= HALF);
	assert_true(shed_now(rig) == HALF);
}

/* Nobody reads: less and less begins to be told, and what has begun gets its end. */
static void nobody_reads(void **state)
{
	const struct rig *rig = *state;
	__u64 before = 0;

	record(rig, UINT64_MAX, 0, RECORD_HEAD_MAX);
	lost_count = 0;
	for (unsigned int round = 0; round < 200 && before < RECORDING_SHED_ALL; round++) {
		requests(*state, 40 * ON_ONE, HEAD_ROOM - 100);
		assert_true(shed_now(rig) >= before);
		before = shed_now(rig);
	}
	/* The last ones that may begin are one in many. */
	assert_true(before > RECORDING_SHED_ALL / 4 * 3);
	assert_int_equal(lost_count, 0);
	read_records();
	assert_int_equal(told.ends, told.begins);
	assert_in_range(told.begins, RECORDS_CALM / 1400, RECORDS_SIZE / 1000);
	assert_true(shed_now(rig) == before); /* who reads lowers it */
}

/* Who reads is called as the ring fills up, but not for each record. */
static void called_in_steps(void **state)
{
	const struct rig *rig = *state;
	struct epoll_event event = {.events = EPOLLIN | EPOLLET};
	int records = bpf_map__fd(rig->tc->maps.records), epoll = epoll_create1(EPOLL_CLOEXEC);
	unsigned int calls = 0, steps = 0;

	assert_int_equal(epoll_ctl(epoll, EPOLL_CTL_ADD, records, &event), 0);
	record(rig, UINT64_MAX, 0, RECORD_HEAD_MAX);
	while (ring_used(ring) < RECORDS_FULL - RECORDS_CALL_STEP) {
		__u64 used = ring_used(ring) / RECORDS_CALL_STEP;

		record(rig, UINT64_MAX, 0, RECORD_HEAD_MAX);
		requests(*state, ON_ONE, HEAD_ROOM - 100);
		steps += ring_used(ring) / RECORDS_CALL_STEP - used;
		calls += (unsigned int)epoll_wait(epoll, &event, 1, 0);
		assert_int_equal(calls ? 1 : 0, ring_used(ring) >= RECORDS_CALL);
	}
	assert_in_range(calls, 1, steps - RECORDS_CALL / RECORDS_CALL_STEP + 1);
	close(epoll);
	read_records();
}

#define CALL(n)                                                                                    \
	"GET /" #n                                                                                 \
	" HTTP/1.1\r\ntraceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b71692033" #n #n       \
	"-01\r\n\r\n"
#define ANSWER(n) "HTTP/1.1 20" #n " OK\r\nContent-Length: 0\r\n\r\n"

/* Of calls that do not wait for each other's answer: an untold one's answer is no other one's. */
static void pipelined(void **state)
{
	unsigned int rounds = 100, begins = 0;
	struct incoming rst = {.more = RST};
	struct conn conn;

	record(*state, UINT64_MAX, HALF, RECORD_HEAD_MAX);
	for (unsigned int round = 0; round < rounds; round++) {
		conn_open(&conn, *state, &ordinary);
		conn_send(&conn, CALL(1) CALL(2) CALL(3));
		conn_answer(&conn, ANSWER(1) ANSWER(2) ANSWER(3));
		rst.ack = conn.stream.len;
		conn_receive(&conn, &rst);
		read_records(); /* which compares paths and statuses */
		assert_int_equal(told.ends, told.begins);
		begins += told.begins;
	}
	assert_in_range(begins, rounds * 3 / 4, rounds * 9 / 4);
}

static void only_so_much_of_a_head(void **state)
{
	static const struct {
		__u32 asked, size;
		__u8 flag;
	} rows[] = {{20, 20, RECORD_SHORT}, {0, 0, RECORD_SHORT}, {RECORD_HEAD_MAX, 98, 0}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		record(*state, UINT64_MAX, 0, rows[i].asked);
		requests(*state, 1, 1);
		read_records();
		assert_int_equal(told.begins, 1);
		assert_int_equal(told.ends, 1);
		assert_int_equal(told.last.head_size, rows[i].size);
		assert_int_equal(told.last.flags & RECORD_SHORT, rows[i].flag);
		assert_memory_equal(told.last.head, "GET /path HTTP/1.1\r\n",
				    rows[i].size < 20 ? rows[i].size : 20);
	}
}

int test_record(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(by_its_trace),           cmocka_unit_test(nobody_reads),
	    cmocka_unit_test(called_in_steps),        cmocka_unit_test(pipelined),
	    cmocka_unit_test(only_so_much_of_a_head),
	};

	return cmocka_run_group_tests_name("record", tests, set_up, tear_down);
}
