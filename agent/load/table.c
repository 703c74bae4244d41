// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <bpf/bpf.h>

#include "base/cleanup.h"
#include "load/table.h"

#define BATCH_FIRST 256
#define BATCH_MAX   65536 /* a hash bucket longer than that is none */

/* One pass over the table. */
struct pass {
	int fd;
	__u32 size; /* flows per batch */
	struct flow_key *keys;
	struct flow *flows;
	__u32 position, next; /* the kernel's tokens */
	bool started;
};

static int resize(struct pass *pass, __u32 size)
{
	struct flow_key *keys = reallocarray(pass->keys, size, sizeof(*keys));
	struct flow *flows = reallocarray(pass->flows, size, sizeof(*flows));

	pass->keys = keys ? keys : pass->keys;
	pass->flows = flows ? flows : pass->flows;
	if (!keys || !flows)
		return -ENOMEM;
	pass->size = size;
	return 0;
}

/* Read the next batch. 0: there may be more, -ENOENT: this was the last, or -errno. */
static int read_batch(struct pass *pass, __u32 *ret_count)
{
	LIBBPF_OPTS(bpf_map_batch_opts, options);
	int err;

	*ret_count = pass->size;
	err = bpf_map_lookup_batch(pass->fd, pass->started ? &pass->position : NULL, &pass->next,
				   pass->keys, pass->flows, ret_count, &options);
	if (err && err != -ENOENT) {
		*ret_count = 0;
		return err;
	}
	pass->position = pass->next;
	pass->started = true;
	return err;
}

static int run(struct pass *pass,
	       void (*visit)(const struct flow_key *, const struct flow *, void *data), void *data)
{
	int err = resize(pass, BATCH_FIRST);
	__u32 count;

	while (!err) {
		err = read_batch(pass, &count);
		for (__u32 i = 0; i < count; i++)
			visit(&pass->keys[i], &pass->flows[i], data);
		/* One bucket has more flows than a batch. */
		if (err == -ENOSPC && pass->size < BATCH_MAX)
			err = resize(pass, pass->size * 2);
	}
	return err == -ENOENT ? 0 : err;
}

int table_each(int fd, void (*visit)(const struct flow_key *, const struct flow *, void *data),
	       void *data)
{
	struct pass pass = {.fd = fd};
	int err = run(&pass, visit, data);

	free(pass.keys);
	free(pass.flows);
	return err;
}

int table_get(int fd, const struct flow_key *key, struct flow *ret_flow)
{
	return bpf_map_lookup_elem(fd, key, ret_flow);
}

struct totals {
	__u32 netns;
	unsigned long total, shifted;
};

static void count_flow(const struct flow_key *key, const struct flow *flow, void *data)
{
	struct totals *totals = data;

	if (totals->netns != TABLE_ANYWHERE && key->netns != totals->netns)
		return;
	totals->total++;
	totals->shifted += flow_has_edits(flow) && edits_any(&flow->edits);
}

int table_count(int fd, __u32 netns, unsigned long *ret_total, unsigned long *ret_shifted)
{
	struct totals totals = {.netns = netns};
	int err = table_each(fd, count_flow, &totals);

	if (err)
		return err;
	*ret_total = totals.total;
	*ret_shifted = totals.shifted;
	return 0;
}

__u32 table_offset(const struct flow *flow)
{
	__u32 offset;

	if (!flow_has_edits(flow))
		return 0;
	offset = edits_base(&flow->edits);
	for (__u32 i = 0; i < edits_count(&flow->edits) && i < EDITS_MAX; i++)
		offset += edits_get(&flow->edits, i)->len;
	return offset;
}

unsigned int table_edits(const struct flow *flow)
{
	return flow_has_edits(flow) ? edits_count(&flow->edits) : 0;
}

__u64 table_idle_ns(const struct flow *flow, __u64 now_ns)
{
	return now_ns > flow->seen_ns ? now_ns - flow->seen_ns : 0;
}
