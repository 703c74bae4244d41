// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cmocka.h>

#include "rig.h"
#include "tc.skel.h"

#define FLOWS 16384

/* The programs of one kind of device, which are yet to be loaded. */
static struct tc *open_programs(bool for_ip_devices)
{
	struct tc *tc = tc__open();

	assert_non_null(tc);
	tc->rodata->netns_id = RIG_NETNS;
	bpf_program__set_autoload(tc->progs.ctxprop_out_eth, !for_ip_devices);
	bpf_program__set_autoload(tc->progs.ctxprop_in_eth, !for_ip_devices);
	bpf_program__set_autoload(tc->progs.ctxprop_out_ip, for_ip_devices);
	bpf_program__set_autoload(tc->progs.ctxprop_in_ip, for_ip_devices);
	return tc;
}

static void load(struct tc *tc)
{
	if (tc__load(tc))
		fail_msg("the kernel refuses the programs: %s", strerror(errno));
}

/* The same maps as those of the rig's other programs, save what is compiled into them. */
static void share_maps(struct tc *tc, const struct tc *with)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, tc->obj)
	{
		const struct bpf_map *other =
		    bpf_object__find_map_by_name(with->obj, bpf_map__name(map));

		if (!bpf_map__is_internal(map))
			assert_int_equal(bpf_map__reuse_fd(map, bpf_map__fd(other)), 0);
	}
}

/* One whose programs are yet to be loaded. */
static struct rig *prepare_rig(uint32_t flows)
{
	struct rig *rig = calloc(1, sizeof(*rig));

	assert_non_null(rig);
	rig->tc = open_programs(false);
	assert_int_equal(bpf_map__set_max_entries(rig->tc->maps.flows, flows), 0);
	rig->port = 1024;
	return rig;
}

struct rig *rig_open(uint32_t flows)
{
	struct rig *rig = prepare_rig(flows);

	load(rig->tc);
	return rig;
}

struct rig *rig_open_with_shares(uint32_t flows)
{
	struct rig *rig = prepare_rig(flows);

	rig->tc->rodata->flows_room = flows;
	load(rig->tc);
	return rig;
}

struct rig *rig_open_with_http2(uint32_t flows)
{
	struct rig *rig = prepare_rig(flows);

	rig->tc->rodata->use_http2 = 1;
	load(rig->tc);
	return rig;
}

void rig_close(struct rig *rig)
{
	tc__destroy(rig->ip);
	tc__destroy(rig->tc);
	free(rig);
}

static struct rig *shared;

int rig_setup(void **state)
{
	if (!shared)
		shared = rig_open(FLOWS);
	rig_forget_counts(shared);
	*state = shared;
	return 0;
}

int rig_teardown(void **state)
{
	(void)state;
	return 0;
}

void rig_close_shared(void)
{
	if (shared)
		rig_close(shared);
	shared = NULL;
}

static const struct tc *ip_programs(struct rig *rig)
{
	if (!rig->ip) {
		rig->ip = open_programs(true);
		rig->ip->rodata->use_http2 = rig->tc->rodata->use_http2;
		share_maps(rig->ip, rig->tc);
		load(rig->ip);
	}
	return rig->ip;
}

int rig_program(struct rig *rig, enum hook hook, const struct shape *shape)
{
	const struct tc *tc = shape->ip_device ? ip_programs(rig) : rig->tc;
	const struct bpf_program *ethernet = tc->progs.ctxprop_out_eth,
				 *ip = tc->progs.ctxprop_out_ip;

	if (hook == HOOK_IN) {
		ethernet = tc->progs.ctxprop_in_eth;
		ip = tc->progs.ctxprop_in_ip;
	}
	return bpf_program__fd(shape->ip_device ? ip : ethernet);
}

int rig_run(struct rig *rig, enum hook hook, const struct shape *shape,
	    const struct meeting *meeting, struct frame *frame)
{
	struct __sk_buff context = {.ifindex = meeting->ifindex, .gso_size = meeting->gso_size};
	struct frame in;
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = in.data, .data_size_in = frame->len,
		    .data_out = frame->data, .data_size_out = sizeof(frame->data),
		    .ctx_in = &context, .ctx_size_in = sizeof(context), .repeat = meeting->times);
	int err;

	memcpy(in.data, frame->data, frame->len);
	err = bpf_prog_test_run_opts(rig_program(rig, hook, shape), &opts);
	if (err)
		fail_msg("the kernel refuses to run a program on a packet of %zu bytes: %s",
			 frame->len, strerror(-err));
	frame->len = opts.data_size_out;
	return (int)opts.retval;
}

void rig_pause(struct rig *rig, bool paused)
{
	struct control control = {.paused = paused};
	__u32 index = 0;

	assert_int_equal(
	    bpf_map_update_elem(bpf_map__fd(rig->tc->maps.control), &index, &control, BPF_ANY), 0);
}

static void key_address(const struct shape *shape, const uint8_t *ipv4, const uint8_t *ipv6,
			__u8 *ret_address)
{
	static const __u8 mapped[12] = {[10] = 0xff, [11] = 0xff};

	if (shape->ipv6) {
		memcpy(ret_address, ipv6, 16);
		return;
	}
	memcpy(ret_address, mapped, 12);
	memcpy(ret_address + 12, ipv4, 4);
}

static struct flow_key flow_key(const struct shape *shape, uint16_t port)
{
	struct flow_key key = {.netns = RIG_NETNS};

	key_address(shape, our_ipv4, our_ipv6, key.src);
	key_address(shape, peer_ipv4, peer_ipv6, key.dst);
	put16((uint8_t *)&key.sport, port);
	put16((uint8_t *)&key.dport, PEER_PORT);
	return key;
}

bool rig_flow(const struct rig *rig, const struct shape *shape, uint16_t port,
	      struct flow *ret_flow)
{
	struct flow_key key = flow_key(shape, port);

	return !bpf_map_lookup_elem(bpf_map__fd(rig->tc->maps.flows), &key, ret_flow);
}

void rig_remove_flow(const struct rig *rig, const struct shape *shape, uint16_t port)
{
	struct flow_key key = flow_key(shape, port);

	assert_int_equal(bpf_map_delete_elem(bpf_map__fd(rig->tc->maps.flows), &key), 0);
}

size_t rig_flows(const struct rig *rig)
{
	struct flow_key key, *last = NULL;
	size_t n = 0;

	for (; !bpf_map_get_next_key(bpf_map__fd(rig->tc->maps.flows), last, &key); n++)
		last = &key;
	return n;
}

bool rig_linger(const struct rig *rig, const struct shape *shape, uint16_t port,
		uint32_t *ret_offset)
{
	struct flow_key key = flow_key(shape, port);
	struct lingering linger;

	if (bpf_map_lookup_elem(bpf_map__fd(rig->tc->maps.lingers), &key, &linger))
		return false;
	*ret_offset = linger.offset;
	return true;
}

static uint64_t counter(const struct rig *rig, __u32 reason)
{
	int cpus = libbpf_num_possible_cpus();
	struct counters each[cpus];
	uint64_t sum = 0;
	__u32 zero = 0;

	assert_int_equal(bpf_map_lookup_elem(bpf_map__fd(rig->tc->maps.counters), &zero, each), 0);
	for (int i = 0; i < cpus; i++)
		sum += each[i].count[reason];
	return sum;
}

uint64_t rig_count(const struct rig *rig, enum ctxprop_reason reason)
{
	return counter(rig, reason) - rig->counted[reason];
}

void rig_forget_counts(struct rig *rig)
{
	for (__u32 i = 0; i < REASON_COUNT; i++)
		rig->counted[i] = counter(rig, i);
}

#define REASON_NAME(id, name, text)   [REASON_##id] = name,
#define EVIDENCE_NAME(id, name, text) [REASON_EVIDENCE_##id] = "by-" name,
#define VETO_NAME(id, name, text)     [REASON_VETO_##id] = "veto-" name,
/* clang-format off */
static const char *const reason_names[] = {
	CTXPROP_REQUEST_REASONS(REASON_NAME)
	CTXPROP_FLOW_REASONS(REASON_NAME)
	CTXPROP_PACKET_REASONS(REASON_NAME)
	CTXPROP_SERVED_REASONS(REASON_NAME)
	CTXPROP_RECORD_REASONS(REASON_NAME)
	CTXPROP_EVIDENCE(EVIDENCE_NAME)
	CTXPROP_VETO(VETO_NAME)
};
/* clang-format on */

void rig_expect_counts(struct rig *rig, const struct count *counts, size_t n, const char *file,
		       int line)
{
	uint64_t want[REASON_COUNT] = {};
	bool wrong = false;

	for (size_t i = 0; i < n; i++)
		want[counts[i].reason] += counts[i].times;
	for (__u32 i = 0; i < REASON_COUNT; i++) {
		uint64_t got = rig_count(rig, i);

		/* Evidence is counted beside INJECTED; only who asks for it wants to know. */
		if (got == want[i] || (i >= REASON_EVIDENCE_NONE && !want[i]))
			continue;
		print_error("counted \"%s\" %llu times, not %llu\n", reason_names[i],
			    (unsigned long long)got, (unsigned long long)want[i]);
		wrong = true;
	}
	rig_forget_counts(rig);
	if (wrong)
		_fail(file, line);
}

static void show_frame(const char *what, const struct frame *f)
{
	print_error("%s: %zu bytes", what, f->len);
	for (size_t i = 0; i < f->len; i++)
		print_error("%s%02x", i % 32 ? " " : "\n\t", f->data[i]);
	print_error("\n");
}

void rig_expect_frame(const struct frame *got, const struct frame *want, const char *file, int line)
{
	size_t at = 0;

	if (got->len == want->len && !memcmp(got->data, want->data, got->len))
		return;
	while (at < got->len && at < want->len && got->data[at] == want->data[at])
		at++;
	show_frame("got", got);
	show_frame("want", want);
	print_error("the first difference is at byte %zu\n", at);
	_fail(file, line);
}
