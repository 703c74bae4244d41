// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <linux/bpf.h>

#include "base/cleanup.h"
#include "trace/ring.h"

struct ring {
	int fd, calls_fd;  /* of the ring; an epoll instance that is woken when programs wake the
			      reader */
	size_t page, size; /* bytes: of a page; of the ring, a power of two */
	unsigned long *consumer;       /* position that is shared with the kernel */
	const unsigned long *producer; /* behind its page lie the records, twice in a row */
	unsigned long at;              /* how far it was read */
};

static const char *records_of(const struct ring *ring)
{
	return (const char *)ring->producer + ring->page;
}

static int map(struct ring *ring)
{
	void *consumer, *producer;

	consumer = mmap(NULL, ring->page, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
	if (consumer == MAP_FAILED)
		return -errno;
	ring->consumer = consumer;
	producer = mmap(NULL, ring->page + 2 * ring->size, PROT_READ, MAP_SHARED, ring->fd,
			(off_t)ring->page);
	if (producer == MAP_FAILED)
		return -errno;
	ring->producer = producer;
	ring->at = __atomic_load_n(ring->consumer, __ATOMIC_ACQUIRE);
	return 0;
}

/* Edge-triggered: returns when a program wakes the reader, not when there are records. */
static int listen_for_calls(struct ring *ring)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET};

	ring->calls_fd = epoll_create1(EPOLL_CLOEXEC);
	if (ring->calls_fd < 0 || epoll_ctl(ring->calls_fd, EPOLL_CTL_ADD, ring->fd, &event))
		return -errno;
	return 0;
}

int ring_open(int fd, struct ring **ret_ring)
{
	struct bpf_map_info info = {};
	__u32 size = sizeof(info);
	int err = bpf_obj_get_info_by_fd(fd, &info, &size);
	struct ring *ring = err ? NULL : calloc(1, sizeof(*ring));

	if (err)
		return err;
	if (!ring)
		return -ENOMEM;
	ring->fd = fd;
	ring->calls_fd = -1;
	ring->page = (size_t)sysconf(_SC_PAGESIZE);
	ring->size = info.max_entries;
	err = map(ring);
	if (!err)
		err = listen_for_calls(ring);
	if (err)
		ring_close(ring);
	else
		*ret_ring = ring;
	return err;
}

void ring_close(struct ring *ring)
{
	if (!ring)
		return;
	if (ring->consumer)
		munmap(ring->consumer, ring->page);
	if (ring->producer)
		munmap((void *)ring->producer, ring->page + 2 * ring->size);
	cleanup_close(&ring->calls_fd);
	free(ring);
}

void ring_wait(const struct ring *ring, int timeout_ms)
{
	struct epoll_event event;

	epoll_wait(ring->calls_fd, &event, 1, timeout_ms);
}

size_t ring_read(struct ring *ring, size_t count,
		 void (*on_record)(void *data, const void *record, size_t size), void *data)
{
	unsigned long end = __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE);
	size_t read = 0;

	while (ring->at < end && read < count) {
		const char *header = records_of(ring) + (ring->at & (ring->size - 1));
		__u32 length = __atomic_load_n((const __u32 *)header, __ATOMIC_ACQUIRE);
		size_t size = length & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

		if (length & BPF_RINGBUF_BUSY_BIT)
			break; /* it is being written */
		ring->at += (BPF_RINGBUF_HDR_SZ + size + 7) / 8 * 8;
		if (!(length & BPF_RINGBUF_DISCARD_BIT))
			on_record(data, header + BPF_RINGBUF_HDR_SZ, size);
		read++;
	}
	return read;
}

size_t ring_used(const struct ring *ring)
{
	return __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE) - *ring->consumer;
}

void ring_release(struct ring *ring)
{
	__atomic_store_n(ring->consumer, ring->at, __ATOMIC_RELEASE);
}
