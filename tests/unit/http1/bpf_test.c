// SPDX-License-Identifier: Apache-2.0
/*
 * The framing automaton in the kernel: the verifier takes it, and its events over random
 * streams are those of the native build.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <bpf/bpf.h>

#include "framing.h"
#include "framing.skel.h"
#include "generator.h"
#include "run.h"

#define SKIPPED    77 /* exit status */
#define STREAM_MAX 8192
#define STREAMS    300
/* Payload of one packet. BPF_PROG_TEST_RUN takes a page at most. */
#define PACKET_MAX  1448
#define PACKETS_MAX 64

static struct framing *skeleton;
static uint8_t bytes[STREAM_MAX];
static struct framing_run shared;
static struct run native, kernel;
static char text[512];

static int map_fd(void)
{
	return bpf_map__fd(skeleton->maps.framing);
}

static void write_shared(void)
{
	uint32_t zero = 0;

	assert_int_equal(bpf_map_update_elem(map_fd(), &zero, &shared, 0), 0);
}

static void read_shared(void)
{
	uint32_t zero = 0;

	assert_int_equal(bpf_map_lookup_elem(map_fd(), &zero, &shared), 0);
}

/* Hand a packet with this payload to the program, `repeat` times. Returns ns per run. */
static uint32_t send_packet(const uint8_t *payload, size_t len, int repeat)
{
	uint8_t packet[FRAMING_LINK + PACKET_MAX] = {0};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = packet, .data_size_in = FRAMING_LINK + len,
		    .repeat = repeat);

	memcpy(packet + FRAMING_LINK, payload, len);
	assert_int_equal(bpf_prog_test_run_opts(bpf_program__fd(skeleton->progs.frame), &opts), 0);
	return opts.duration;
}

/* Add what the program noted about the packet that begins at `base`. */
static void collect(uint64_t base)
{
	read_shared();
	assert_true(shared.count <= FRAMING_EVENTS);
	for (uint32_t i = 0; i < shared.count; i++)
		kernel.marks[kernel.count++] = (struct run_mark){
		    .at = base + shared.events[i].at,
		    .event = shared.events[i].event,
		};
}

static void run_in_kernel(const struct run_input *input)
{
	kernel.count = kernel.values_len = 0;
	memset(&shared, 0, sizeof(shared));
	http1_init(&shared.http, input->kind);
	shared.line = PROTOCOL_NOWHERE;
	write_shared();
	for (size_t i = 0; i <= input->cut_count; i++) {
		size_t from = i ? input->cuts[i - 1] : 0;
		size_t to = i < input->cut_count ? input->cuts[i] : input->len;

		send_packet(input->bytes + from, to - from, 1);
		collect(from);
		if (shared.step.event == PROTOCOL_STOP)
			return;
	}
}

/* Packets of up to PACKET_MAX bytes, none of them empty. Returns the number of cuts. */
static size_t draw_cuts(struct generator *g, size_t cuts[PACKETS_MAX])
{
	size_t count = 0, at = 0;

	while (count < PACKETS_MAX) {
		at += 1 + generator_draw(g, PACKET_MAX - 1);
		if (at >= g->len)
			break;
		cuts[count++] = at;
	}
	return count;
}

/* The program knows events and places only. */
static void forget_details(struct run *run)
{
	run->values_len = 0;
	for (size_t i = 0; i < run->count; i++)
		run->marks[i] =
		    (struct run_mark){.at = run->marks[i].at, .event = run->marks[i].event};
}

static void check_stream(struct generator *g, enum protocol_kind kind, enum generator_mood mood)
{
	size_t cuts[PACKETS_MAX];
	struct run_input input = {.kind = kind, .bytes = bytes, .cuts = cuts};

	generator_stream(g, kind, mood);
	input.len = g->len;
	input.cut_count = draw_cuts(g, cuts);
	run_stream(&input, &native);
	run_thin(&native);
	forget_details(&native);
	run_in_kernel(&input);
	if (run_differ(&native, &kernel, text, sizeof(text)))
		fail_msg("native and kernel differ: %s", text);
}

static void same_as_native(void **state)
{
	struct generator g = {.seed = 42, .bytes = bytes, .room = sizeof(bytes)};

	(void)state;
	for (unsigned i = 0; i < STREAMS; i++)
		check_stream(&g, i & 1, i % GENERATOR_MOODS);
}

static void cost_of_a_head(void **state)
{
	static const char head[] = "GET /api/v1/items?page=2 HTTP/1.1\r\n"
				   "Host: items.example.org\r\n"
				   "User-Agent: curl/7.88.1\r\n"
				   "Accept: */*\r\n"
				   "Accept-Encoding: gzip, deflate\r\n"
				   "Connection: keep-alive\r\n"
				   "X-Request-Id: 7f3c2a91-5ad0-4b1c-9e77\r\n\r\n";
	uint32_t best = UINT32_MAX;

	(void)state;
	memset(&shared, 0, sizeof(shared));
	shared.anew = 1;
	write_shared();
	for (int i = 0; i < 5; i++) {
		uint32_t ns = send_packet((const uint8_t *)head, sizeof(head) - 1, 100000);

		best = ns < best ? ns : best;
	}
	read_shared();
	print_message("a head of %zu bytes: %u steps, %u ns\n", sizeof(head) - 1, shared.steps,
		      best);
	assert_int_equal(shared.events[shared.count - 1].event, PROTOCOL_END);
	assert_true(shared.steps < 40);
}

/* Returns 0, or says why there is nothing to test. */
static int load(void)
{
	int err;

	skeleton = framing__open();
	if (!skeleton)
		return -errno;
	err = framing__load(skeleton);
	if (err == -EPERM)
		printf("SKIPPED: loading BPF programs is not permitted (root is needed)\n");
	else if (err)
		printf("the kernel refuses the program: %s\n", strerror(-err));
	return err;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(same_as_native),
	    cmocka_unit_test(cost_of_a_head),
	};
	int err = load();

	if (err)
		return err == -EPERM ? SKIPPED : 1;
	err = cmocka_run_group_tests_name("framing: kernel", tests, NULL, NULL);
	framing__destroy(skeleton);
	return err;
}
