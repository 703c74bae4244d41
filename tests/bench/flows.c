// SPDX-License-Identifier: Apache-2.0
/*
 * bench_flows add|delete MAP_ID COUNT
 *
 * Puts COUNT invented live flows into the agent's table of flows, or takes them out again, so that
 * the cost of a packet beside many flows can be measured. Their addresses (198.18.0.0/15, RFC 2544)
 * meet no traffic.
 */
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "abi.h"

static void mapped(__u8 *at, __u32 address)
{
	__be32 wire = htobe32(address);

	memset(at, 0, 10);
	memset(at + 10, 0xff, 2);
	memcpy(at + 12, &wire, 4);
}

static struct flow_key invented_key(__u32 i)
{
	struct flow_key key = {.dport = htobe16(80)};

	mapped(key.src, 0xc6120000 + i / 50000);
	mapped(key.dst, 0xc6130000);
	key.sport = htobe16((__u16)(10000 + i % 50000));
	return key;
}

/* The agent may drop entries that look old: these are of now. */
static __u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (__u64)t.tv_sec * 1000000000ull + (__u64)t.tv_nsec;
}

static int add(int map, __u32 count)
{
	struct flow flow = {.opened_ns = now_ns(), .seen_ns = now_ns()};

	for (__u32 i = 0; i < count; i++) {
		struct flow_key key = invented_key(i);

		if (bpf_map_update_elem(map, &key, &flow, BPF_ANY))
			return -errno;
	}
	return 0;
}

/* The agent may have dropped some of them by itself. */
static int forget(int map, __u32 count)
{
	for (__u32 i = 0; i < count; i++) {
		struct flow_key key = invented_key(i);

		if (bpf_map_delete_elem(map, &key) && errno != ENOENT)
			return -errno;
	}
	return 0;
}

/* A table of another layout would be filled with nonsense. */
static int check_layout(int map)
{
	struct bpf_map_info info = {};
	__u32 size = sizeof(info);

	if (bpf_obj_get_info_by_fd(map, &info, &size))
		return -errno;
	return info.key_size == sizeof(struct flow_key) && info.value_size == sizeof(struct flow)
		   ? 0
		   : -EPROTO;
}

int main(int argc, char **argv)
{
	bool adding = argc == 4 && !strcmp(argv[1], "add");
	int map = -1, error;
	__u32 count;

	if (argc != 4 || (!adding && strcmp(argv[1], "delete"))) {
		fprintf(stderr, "bench_flows: expected add|delete, the id of the map, a count\n");
		return EXIT_FAILURE;
	}
	count = (__u32)strtoul(argv[3], NULL, 10);
	map = bpf_map_get_fd_by_id((__u32)strtoul(argv[2], NULL, 10));
	error = map < 0 ? map : check_layout(map);
	if (!error)
		error = adding ? add(map, count) : forget(map, count);
	if (error)
		fprintf(stderr, "bench_flows: map %s: %s\n", argv[2],
			error == -EPROTO ? "not the layout of bpf/abi.h" : strerror(-error));
	if (map >= 0)
		close(map);
	return error ? EXIT_FAILURE : EXIT_SUCCESS;
}
