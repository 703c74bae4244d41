// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include "base/cleanup.h"
#include "flows/told.h"

#define READ_SIZE 16384 /* bytes; more than one entry */

static void cleanup_link(struct bpf_link **link)
{
	bpf_link__destroy(*link);
}

/* The iterator as a file. The descriptor or -errno. */
static int open_iterator(const struct bpf_program *program, int map_fd)
{
	__attribute__((cleanup(cleanup_link))) struct bpf_link *link = NULL;
	union bpf_iter_link_info which = {.map.map_fd = (__u32)map_fd};
	LIBBPF_OPTS(bpf_iter_attach_opts, options, .link_info = &which,
		    .link_info_len = sizeof(which));

	link = bpf_program__attach_iter(program, &options);
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
static int compare(const struct flow_key *key, const struct record_ends *with)
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
	const struct record_ends *e = a;
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

static void keep_namespace(struct told *told, __u32 netns)
{
	char *at = told->entry;
	size_t kept = 0;

	for (size_t i = 0; i < told->count; i++) {
		const struct record_ends *ends = (const void *)(at + i * told->size);

		if (netns && (__u32)ends->netns != netns)
			continue;
		memmove(at + kept++ * told->size, ends, told->size);
	}
	told->count = kept;
}

int told_read(const struct bpf_program *program, int map_fd, size_t entry_size, __u32 netns,
	      struct told *ret_told)
{
	_cleanup_close_ int fd = open_iterator(program, map_fd);
	_cleanup_free_ char *buffer = NULL;
	size_t used = 0;
	ssize_t length;

	if (fd < 0)
		return fd;
	while ((length = read_more(fd, &buffer, used)) > 0)
		used += (size_t)length;
	if (length < 0)
		return (int)length;
	*ret_told = (struct told){buffer, used / entry_size, entry_size};
	buffer = NULL;
	keep_namespace(ret_told, netns);
	qsort(ret_told->entry, ret_told->count, entry_size, compare_entries);
	return 0;
}

void told_free(struct told *told)
{
	free(told->entry);
	*told = (struct told){};
}

const void *told_find(const struct told *told, const struct flow_key *key)
{
	return told->count ? bsearch(key, told->entry, told->count, told->size, compare_key) : NULL;
}
