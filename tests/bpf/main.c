// SPDX-License-Identifier: Apache-2.0
/*
 * The packet programs, packet by packet, in a network namespace of their own.
 *
 *   bpf_tests            all topics
 *   bpf_tests TOPIC...   these topics
 *
 * Exits with 0 when all is well, 1 when a test failed, 77 when nothing could be tried.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <bpf/libbpf.h>

#include "rig.h"
#include "topics.h"

#define SKIPPED 77

struct topic {
	const char *name;
	int (*run)(void);
};

static const struct topic topics[] = {
    {"grow", test_grow},       {"retransmit", test_retransmit},
    {"ack", test_ack},         {"settled", test_settled},
    {"opaque", test_opaque},   {"answer", test_answer},
    {"shape", test_shape},     {"life", test_life},
    {"twin", test_twin},       {"end", test_end},
    {"reset", test_reset},     {"join", test_join},
    {"icmp", test_icmp},       {"split", test_split},
    {"device", test_device},   {"damaged", test_damaged},
    {"policy", test_policy},   {"restart", test_restart},
    {"child", test_child},     {"serve", test_serve},
    {"story", test_story},     {"forged", test_forged},
    {"record", test_record},   {"http2", test_http2},
    {"streams", test_streams}, {"budget", test_budget},
};
#define TOPICS_COUNT (sizeof(topics) / sizeof(topics[0]))

static const struct topic *find(const char *name)
{
	for (size_t i = 0; i < TOPICS_COUNT; i++) {
		if (!strcmp(topics[i].name, name))
			return &topics[i];
	}
	return NULL;
}

static int unknown(const char *name)
{
	fprintf(stderr, "bpf_tests: unknown topic \"%s\". There are:", name);
	for (size_t i = 0; i < TOPICS_COUNT; i++)
		fprintf(stderr, " %s", topics[i].name);
	fprintf(stderr, "\n");
	return 2;
}

static int run_all(void)
{
	int failed = 0;

	for (size_t i = 0; i < TOPICS_COUNT; i++)
		failed |= topics[i].run();
	return !!failed;
}

static int run_named(char **names)
{
	int failed = 0;

	for (; *names; names++) {
		const struct topic *topic = find(*names);

		if (!topic)
			return unknown(*names);
		failed |= topic->run();
	}
	return !!failed;
}

/* Some of what the programs remember is for one CPU alone. */
static void stay_on_one_cpu(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

int main(int argc, char **argv)
{
	int status;

	stay_on_one_cpu();
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	if (geteuid() || unshare(CLONE_NEWNET)) {
		printf("skipped: loading programs and making network namespaces takes root\n");
		return SKIPPED;
	}
	status = argc > 1 ? run_named(argv + 1) : run_all();
	rig_close_shared();
	return status;
}
