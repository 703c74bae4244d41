// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/bpf.h>

#include "base/cleanup.h"
#include "engine/model.h"
#include "lines_bpf.skel.h"
#include "load/node_maps.h"
#include "pins/pins.h"
#include "logs/watch.h"

struct watch {
	struct lines_bpf *skeleton;
	struct ring_buffer *ring;
	int sockets_fd; /* the node's map of sockets */
	void (*take)(const struct line_record *record, void *data);
	void *data;
};

static int take_record(void *data, void *bytes, size_t size)
{
	const struct watch *watch = data;

	if (size >= sizeof(struct line_record))
		watch->take(bytes, watch->data);
	return 0;
}

/* A map of the node's, by its name. A descriptor, or -errno. */
static int open_of_node(const char *name)
{
	char path[PINS_PATH_MAX];

	return bpf_obj_get(pins_map_path(path, node_maps_layer_dir(), name));
}

static int share(struct bpf_map *map)
{
	_cleanup_close_ int fd = open_of_node(bpf_map__name(map));

	return fd < 0 ? fd : bpf_map__reuse_fd(map, fd);
}

/* The map of contexts is the one that the agent keeps. */
static int share_contexts(struct watch *watch, char *ret_why, size_t size)
{
	_cleanup_close_ int fd = bpf_obj_get(NODE_TRACES_PATH);

	if (fd < 0) {
		snprintf(ret_why, size, "%s: %s; does ctxpropd run?", NODE_TRACES_PATH,
			 strerror(-fd));
		return fd;
	}
	return bpf_map__reuse_fd(watch->skeleton->maps.traces_ctx_v1, fd);
}

static int open_sockets(struct watch *watch)
{
	watch->sockets_fd = open_of_node("sockets");
	return watch->sockets_fd < 0 ? watch->sockets_fd : 0;
}

static int load(struct watch *watch, char *ret_why, size_t size)
{
	int err;

	if (libbpf_find_vmlinux_btf_id("sk_data_ready", BPF_TRACE_RAW_TP) <= 0) {
		snprintf(ret_why, size,
			 "this kernel does not tell who writes to a socket: that "
			 "came with Linux 6.3");
		return -EOPNOTSUPP;
	}
	watch->skeleton = lines_bpf__open();
	if (!watch->skeleton)
		return -errno;
	err = share_contexts(watch, ret_why, size);
	if (!err)
		err = share(watch->skeleton->maps.workers);
	if (!err)
		err = share(watch->skeleton->maps.processes);
	if (!err)
		err = open_sockets(watch);
	if (!err)
		err = lines_bpf__load(watch->skeleton);
	return err ? err : lines_bpf__attach(watch->skeleton);
}

static int open_ring(struct watch *watch)
{
	watch->ring = ring_buffer__new(bpf_map__fd(watch->skeleton->maps.line_records), take_record,
				       watch, NULL);
	return watch->ring ? 0 : -errno;
}

int watch_open(void (*take)(const struct line_record *record, void *data), void *data,
	       struct watch **ret_watch, char *ret_why, size_t size)
{
	struct watch *watch = calloc(1, sizeof(*watch));
	int err;

	*ret_why = '\0';
	if (!watch)
		return -ENOMEM;
	watch->take = take;
	watch->data = data;
	watch->sockets_fd = -1;
	err = load(watch, ret_why, size);
	if (!err)
		err = open_ring(watch);
	if (!err) {
		*ret_watch = watch;
		return 0;
	}
	if (!*ret_why)
		snprintf(ret_why, size, "%s", strerror(-err));
	watch_close(watch);
	return err;
}

void watch_close(struct watch *watch)
{
	if (!watch)
		return;
	ring_buffer__free(watch->ring);
	lines_bpf__destroy(watch->skeleton);
	cleanup_close(&watch->sockets_fd);
	free(watch);
}

/* What is written there is no call to another service, and no answer. */
static int set_opaque(const struct watch *watch, int fd)
{
	const struct socket opaque = {.flags = SOCKET_OPAQUE};

	return bpf_map_update_elem(watch->sockets_fd, &fd, &opaque, BPF_ANY);
}

int watch_socket(struct watch *watch, int fd, __u32 stream)
{
	const struct line_stream value = {.stream = stream};
	int err = set_opaque(watch, fd);

	if (err)
		return err;
	return bpf_map_update_elem(bpf_map__fd(watch->skeleton->maps.line_streams), &fd, &value,
				   BPF_ANY);
}

int watch_fd(struct watch *watch)
{
	return ring_buffer__epoll_fd(watch->ring);
}

void watch_read(struct watch *watch)
{
	ring_buffer__consume(watch->ring);
}
