// SPDX-License-Identifier: Apache-2.0
/*
 * profile_sampler [PIN [HZ|switches]]
 *
 * Samples every CPU by its software clock (997 times a second) and prints one line a sample:
 *     ns tgid tid trace-id span-id ip    ids "-" where the map has no entry for the thread; ip:
 * hexadecimal. With "switches" there is one instead whenever a thread goes off its CPU that has an
 * entry; its ip is 0. Prints "ready" first, ends when its standard input does, with "lost N" as the
 * last line.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "profile_sample.skel.h"
#include "traces_ctx.h"

#define DEFAULT_HZ   "997"
#define POLL_MS      100
#define CPUS_AT_MOST 1024

static void hex(char *text, const __u8 *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		sprintf(text + 2 * i, "%02x", bytes[i]);
}

static int print_sample(void *ctx, void *data, size_t size)
{
	static const struct traces_ctx none;
	const struct sample *sample = data;
	char trace[33] = "-", span[17] = "-";

	(void)ctx;
	(void)size;
	if (memcmp(&sample->context, &none, sizeof(none))) {
		hex(trace, sample->context.trace_id, sizeof(sample->context.trace_id));
		hex(span, sample->context.span_id, sizeof(sample->context.span_id));
	}
	printf("%llu %u %u %s %s %llx\n", sample->ns, sample->tgid, sample->tid, trace, span,
	       sample->ip);
	return 0;
}

/* Opens the pin and refuses another shape than the published one. Returns a descriptor or -errno.
 */
static int open_pin(const char *path)
{
	struct bpf_map_info info = {};
	__u32 size = sizeof(info);
	int map = bpf_obj_get(path);

	if (map < 0)
		return -errno;
	if (bpf_obj_get_info_by_fd(map, &info, &size) || info.type != BPF_MAP_TYPE_LRU_HASH ||
	    info.key_size != sizeof(__u64) || info.value_size != sizeof(struct traces_ctx) ||
	    info.max_entries != TRACES_CTX_MAX || info.map_flags) {
		close(map);
		return -EINVAL;
	}
	return map;
}

static struct profile_sample *load(const char *pin, bool switches)
{
	struct profile_sample *skel = profile_sample__open();
	int map = open_pin(pin);
	int error = map;

	if (map >= 0 && skel) {
		bpf_program__set_autoload(skel->progs.profile_sample, !switches);
		bpf_program__set_autoload(skel->progs.profile_switch, switches);
		error = bpf_map__reuse_fd(skel->maps.traces_ctx_v1, map);
		if (!error)
			error = profile_sample__load(skel);
		close(map);
	}
	if (error >= 0 && skel)
		return skel;
	fprintf(stderr, "profile_sampler: %s: %s\n", pin, strerror(-error));
	profile_sample__destroy(skel);
	return NULL;
}

/* One event on each CPU that is online; they live as long as the process. */
static int attach(struct bpf_program *program, unsigned long hz)
{
	struct perf_event_attr attr = {
	    .type = PERF_TYPE_SOFTWARE,
	    .size = sizeof(attr),
	    .config = PERF_COUNT_SW_CPU_CLOCK,
	    .freq = 1,
	    .sample_freq = hz,
	};
	int attached = 0;

	for (int cpu = 0; cpu < CPUS_AT_MOST; cpu++) {
		int event = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

		if (event < 0 && (errno == ENODEV || errno == EINVAL))
			continue; /* no such CPU, or it is offline */
		if (event < 0 || !bpf_program__attach_perf_event(program, event))
			return -errno;
		attached++;
	}
	return attached ? 0 : -ENODEV;
}

static bool input_is_open(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	char byte;

	return poll(&input, 1, 0) == 0 || read(STDIN_FILENO, &byte, 1) > 0;
}

static int sample_until_told(struct profile_sample *skel)
{
	struct ring_buffer *ring =
	    ring_buffer__new(bpf_map__fd(skel->maps.samples), print_sample, NULL, NULL);

	if (!ring)
		return -errno;
	puts("ready");
	fflush(stdout);
	while (input_is_open())
		ring_buffer__poll(ring, POLL_MS);
	ring_buffer__consume(ring);
	printf("lost %llu\n", skel->bss->lost);
	ring_buffer__free(ring);
	return 0;
}

int main(int argc, char **argv)
{
	const char *pin = argc > 1 ? argv[1] : TRACES_CTX_PIN;
	const char *when = argc > 2 ? argv[2] : DEFAULT_HZ;
	const bool switches = !strcmp(when, "switches");
	struct profile_sample *skel = load(pin, switches);
	int error;

	if (!skel)
		return EXIT_FAILURE;
	error = switches ? profile_sample__attach(skel)
			 : attach(skel->progs.profile_sample, strtoul(when, NULL, 10));
	if (!error)
		error = sample_until_told(skel);
	if (error)
		fprintf(stderr, "profile_sampler: cannot sample: %s\n", strerror(-error));
	profile_sample__destroy(skel);
	return error ? EXIT_FAILURE : EXIT_SUCCESS;
}
