// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include "base/cleanup.h"
#include "load/node_maps.h"
#include "load/trace_readers.h"
#include "trace_readers_bpf.skel.h"

/* Maps beside the node's: of every build of `ctxprop profile`, and of what shows at moments. */
static const char *const others[] = {"profile_scratch", "profile_samples", "moments"};

struct trace_readers {
	struct trace_readers_bpf *skeleton;
	struct bpf_link *link;
};

/* The kernel keeps the beginning of a name. */
static int add_name(int names_fd, const char *name)
{
	char key[TRACE_READER_NAME] = "";
	__u8 value = 1;

	snprintf(key, sizeof(key), "%s", name);
	return bpf_map_update_elem(names_fd, key, &value, BPF_ANY);
}

static int add_names(int names_fd)
{
	const char *name;
	int err = 0;

	for (size_t i = 0; !err && (name = node_maps_name(i)); i++)
		if (strcmp(name, NODE_TRACES_NAME) != 0)
			err = add_name(names_fd, name);
	for (size_t i = 0; !err && i < sizeof(others) / sizeof(others[0]); i++)
		err = add_name(names_fd, others[i]);
	return err;
}

static int load(struct trace_readers *readers)
{
	int err;

	readers->skeleton = trace_readers_bpf__open_and_load();
	if (!readers->skeleton)
		return -errno;
	err = add_names(bpf_map__fd(readers->skeleton->maps.own_map_names));
	if (err)
		return err;
	readers->link = bpf_program__attach_iter(readers->skeleton->progs.find_trace_readers, NULL);
	return readers->link ? 0 : -errno;
}

int trace_readers_open(struct trace_readers **ret_readers)
{
	struct trace_readers *readers = calloc(1, sizeof(*readers));
	int err = readers ? load(readers) : -ENOMEM;

	if (err)
		trace_readers_close(readers);
	else
		*ret_readers = readers;
	return err;
}

void trace_readers_close(struct trace_readers *readers)
{
	if (!readers)
		return;
	bpf_link__destroy(readers->link);
	trace_readers_bpf__destroy(readers->skeleton);
	free(readers);
}

/* 0: contexts are not published there. */
static __u32 traces_id(void)
{
	_cleanup_close_ int fd = bpf_obj_get(NODE_TRACES_PATH);
	struct bpf_map_info info = {};
	__u32 size = sizeof(info);

	return fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size) ? 0 : info.id;
}

/* Note one more reader: the ids of ours, and one of the others. */
static void see(const struct trace_reader *reader, size_t *own, struct trace_readers_seen *seen)
{
	if (!reader->own) {
		if (!seen->reader.id || !reader->samples)
			seen->reader = *reader;
	} else if (*own < TRACE_READERS_SAMPLERS) {
		seen->own_samplers[(*own)++] = reader->id;
	}
}

/* The next one of the iterator. 1; 0: there is none; or -errno. */
static int next_reader(int fd, struct trace_reader *ret_reader)
{
	ssize_t length;

	do
		length = read(fd, ret_reader, sizeof(*ret_reader));
	while (length < 0 && errno == EAGAIN);
	return length < 0 ? -errno : length == sizeof(*ret_reader);
}

int trace_readers_look(struct trace_readers *readers, struct trace_readers_seen *ret_seen)
{
	_cleanup_close_ int fd = -1;
	struct trace_readers_seen seen = {};
	struct trace_reader reader;
	size_t own = 0;
	int found;

	readers->skeleton->bss->wanted_map = traces_id();
	if (!readers->skeleton->bss->wanted_map)
		return 0;
	fd = bpf_iter_create(bpf_link__fd(readers->link));
	if (fd < 0)
		return fd;
	while ((found = next_reader(fd, &reader)) > 0)
		see(&reader, &own, &seen);
	if (found < 0)
		return found;
	*ret_seen = seen;
	return seen.reader.id != 0;
}
