// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>
#include <bpf/bpf.h>

#include "base/cleanup.h"
#include "flows/records.h"
#include "load/node_maps.h"
#include "load/pins.h"
#include "records_bpf.skel.h"

#define READ_SIZE 16384 /* bytes; more than one entry */

static void cleanup_skeleton(struct records_bpf **skeleton)
{
	records_bpf__destroy(*skeleton);
}

static void cleanup_link(struct bpf_link **link)
{
	bpf_link__destroy(*link);
}

/* An iterator over the map `sockets`, as a file. The descriptor or -errno. */
static int open_iterator(void)
{
	__attribute__((cleanup(cleanup_skeleton))) struct records_bpf *skeleton = NULL;
	__attribute__((cleanup(cleanup_link))) struct bpf_link *link = NULL;
	union bpf_iter_link_info which = {};
	LIBBPF_OPTS(bpf_iter_attach_opts, options, .link_info = &which,
		    .link_info_len = sizeof(which));
	char path[PINS_PATH_MAX];
	_cleanup_close_ int map =
	    bpf_obj_get(pins_map_path(path, node_maps_layer_dir(), "sockets"));

	if (map < 0)
		return map;
	skeleton = records_bpf__open_and_load();
	if (!skeleton)
		return -errno;
	which.map.map_fd = (__u32)map;
	link = bpf_program__attach_iter(skeleton->progs.record_sockets, &options);
	return link ? bpf_iter_create(bpf_link__fd(link)) : -errno;
}

/* Read on behind what is there. More than 0, 0 at the end, or -errno. */
static ssize_t read_more(int fd, char **buffer, size_t used)
{
	char *grown = realloc(*buffer, used + READ_SIZE);
	ssize_t length;

	if (!grown)
		return -ENOMEM;
	*buffer = grown;
	length = read(fd, grown + used, READ_SIZE);
	return length < 0 ? -errno : length;
}

/* By network namespace, addresses and ports. */
static int compare(const struct flow_key *key, const struct record_entry *with)
{
	__u32 netns = (__u32)with->netns;
	int order = (key->netns > netns) - (key->netns < netns);

	if (!order)
		order = memcmp(key->src, with->local, sizeof(with->local));
	if (!order)
		order = memcmp(key->dst, with->remote, sizeof(with->remote));
	if (!order)
		order = (int)key->sport - (int)with->local_port;
	return order ? order : (int)key->dport - (int)with->remote_port;
}

static int compare_entries(const void *a, const void *b)
{
	const struct record_entry *e = a;
	struct flow_key key = {
	    .sport = e->local_port, .dport = e->remote_port, .netns = (__u32)e->netns};

	memcpy(key.src, e->local, sizeof(key.src));
	memcpy(key.dst, e->remote, sizeof(key.dst));
	return compare(&key, b);
}

static int compare_key(const void *a, const void *b)
{
	return compare(a, b);
}

static void keep_namespace(struct records *records, __u32 netns)
{
	size_t kept = 0;

	for (size_t i = 0; i < records->count; i++)
		if (!netns || (__u32)records->entry[i].netns == netns)
			records->entry[kept++] = records->entry[i];
	records->count = kept;
}

int records_read(__u32 netns, struct records *ret_records)
{
	_cleanup_close_ int fd = open_iterator();
	_cleanup_free_ char *buffer = NULL;
	size_t used = 0;
	ssize_t length;

	if (fd < 0)
		return fd;
	while ((length = read_more(fd, &buffer, used)) > 0)
		used += (size_t)length;
	if (length < 0)
		return (int)length;
	*ret_records =
	    (struct records){(struct record_entry *)buffer, used / sizeof(struct record_entry)};
	buffer = NULL;
	keep_namespace(ret_records, netns);
	qsort(ret_records->entry, ret_records->count, sizeof(*ret_records->entry), compare_entries);
	return 0;
}

void records_free(struct records *records)
{
	free(records->entry);
	*records = (struct records){};
}

const struct record_entry *records_find(const struct records *records, const struct flow_key *key)
{
	return records->count ? bsearch(key, records->entry, records->count,
					sizeof(*records->entry), compare_key)
			      : NULL;
}
