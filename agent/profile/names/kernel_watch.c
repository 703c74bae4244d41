// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/perf_event.h>
#include <bpf/libbpf.h>

#include "base/cleanup.h"
#include "base/list.h"
#include "profile/names/kernel_watch.h"

#define RING_PAGES   8    /* a power of two; some hundred records */
#define RECORD_BYTES 1024 /* if less is free, a record may have been lost */

struct change {
	__u64 start, end; /* addresses */
	__u64 seen_ns;
};

/* What one CPU tells. */
struct ring {
	int fd; /* -1: the CPU is offline */
	struct perf_event_mmap_page *page;
};

struct kernel_watch {
	struct ring *ring; /* by CPU */
	int cpus;
	long online; /* so many CPUs when it began */
	struct change *change;
	size_t count;
	__u64 all_ns; /* when a loss of records was last seen; 0: never */
};

static size_t ring_bytes(void)
{
	return (RING_PAGES + 1) * (size_t)sysconf(_SC_PAGESIZE);
}

/* 0, also if the CPU is offline; or -errno. */
static int open_ring(struct ring *ring, int cpu)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_SW_DUMMY,
				       .ksymbol = 1};
	void *page;

	ring->fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (ring->fd < 0)
		return errno == ENODEV ? 0 : -errno;
	page = mmap(NULL, ring_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
	if (page == MAP_FAILED)
		return -errno;
	ring->page = page;
	return 0;
}

static int open_rings(struct kernel_watch *watch)
{
	const int cpus = libbpf_num_possible_cpus();
	int err = 0;

	watch->online = sysconf(_SC_NPROCESSORS_ONLN);
	watch->ring = cpus > 0 ? calloc((size_t)cpus, sizeof(*watch->ring)) : NULL;
	if (!watch->ring)
		return -ENOMEM;
	watch->cpus = cpus;
	for (int cpu = 0; cpu < cpus; cpu++)
		watch->ring[cpu].fd = -1;
	for (int cpu = 0; cpu < cpus && !err; cpu++)
		err = open_ring(&watch->ring[cpu], cpu);
	return err;
}

struct kernel_watch *kernel_watch_new(void)
{
	struct kernel_watch *watch = calloc(1, sizeof(*watch));

	if (watch && !open_rings(watch))
		return watch;
	kernel_watch_free(watch);
	return NULL;
}

void kernel_watch_free(struct kernel_watch *watch)
{
	if (!watch)
		return;
	for (int cpu = 0; cpu < watch->cpus; cpu++) {
		if (watch->ring[cpu].page)
			munmap(watch->ring[cpu].page, ring_bytes());
		cleanup_close(&watch->ring[cpu].fd);
	}
	free(watch->ring);
	free(watch->change);
	free(watch);
}

/* Without room for it nothing is known any more. */
static void add(struct kernel_watch *watch, const struct change *change)
{
	struct change *added = list_add(&watch->change, &watch->count, sizeof(*added));

	if (added)
		*added = *change;
	else
		watch->all_ns = change->seen_ns;
}

/* Records consist of words of 8 bytes, none of which wraps around. */
static __u64 word_at(const struct perf_event_mmap_page *page, __u64 at)
{
	const char *data = (const char *)page + page->data_offset;

	return *(const __u64 *)(const void *)(data + at % page->data_size);
}

/* The header, the address, and the length in the lower half of a word. Returns the record's size.
 */
static __u64 take_record(struct kernel_watch *watch, const struct perf_event_mmap_page *page,
			 __u64 at, __u64 now_ns)
{
	const union {
		__u64 word;
		struct perf_event_header header;
	} begin = {.word = word_at(page, at)};
	const __u64 address = word_at(page, at + 8), length = (__u32)word_at(page, at + 16);

	if (begin.header.type == PERF_RECORD_KSYMBOL)
		add(watch, &(struct change){address, address + length, now_ns});
	else
		watch->all_ns = now_ns;
	return begin.header.size;
}

static void take_ring(struct kernel_watch *watch, struct perf_event_mmap_page *page, __u64 now_ns)
{
	const __u64 head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	__u64 at = page->data_tail, size;

	if (head - at + RECORD_BYTES > page->data_size)
		watch->all_ns = now_ns;
	while (at < head) {
		size = take_record(watch, page, at, now_ns);
		at = size ? at + size : head;
	}
	__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
}

static void forget(struct kernel_watch *watch, __u64 since_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < watch->count; i++)
		if (watch->change[i].seen_ns >= since_ns)
			watch->change[kept++] = watch->change[i];
	watch->count = kept;
}

void kernel_watch_look(struct kernel_watch *watch, __u64 now_ns, __u64 since_ns)
{
	forget(watch, since_ns);
	for (int cpu = 0; cpu < watch->cpus; cpu++)
		if (watch->ring[cpu].page)
			take_ring(watch, watch->ring[cpu].page, now_ns);
	/* One that has come since is not heard. */
	if (sysconf(_SC_NPROCESSORS_ONLN) != watch->online)
		watch->all_ns = now_ns;
}

bool kernel_watch_changed(const struct kernel_watch *watch, __u64 address, __u64 since_ns)
{
	if (watch->all_ns && watch->all_ns >= since_ns)
		return true;
	for (size_t i = 0; i < watch->count; i++) {
		const struct change *change = &watch->change[i];

		if (change->seen_ns >= since_ns && address >= change->start &&
		    address < change->end)
			return true;
	}
	return false;
}
