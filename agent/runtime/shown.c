// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <bpf/bpf.h>

#include "base/list.h"
#include "load/node_contexts.h"
#include "runtime/processes.h"
#include "runtime/shown.h"

#define FLAGS (RUNTIME_SHOWN | RUNTIME_ALWAYS | RUNTIME_COSTLY)

struct begin {
	int runtimes_fd;
	void (*look)(__u32 tgid, void *data);
	void *data;
};

static void begin_one(__u32 tgid, void *data)
{
	const struct begin *begin = data;
	struct runtime known;

	if (bpf_map_lookup_elem(begin->runtimes_fd, &tgid, &known) || known.kind == RUNTIME_WANTED)
		return;
	if (known.flags & RUNTIME_SHOWABLE) {
		begin->look(tgid, begin->data);
		return;
	}
	known.flags |= RUNTIME_SHOWN;
	bpf_map_update_elem(begin->runtimes_fd, &tgid, &known, BPF_EXIST);
}

void shown_begin(int runtimes_fd, void (*look)(__u32 tgid, void *data), void *data)
{
	struct begin begin = {runtimes_fd, look, data};

	processes_each(runtimes_fd, begin_one, &begin);
}

/* Processes that were shown by probes; those for which there was no memory are left out. */
struct end {
	int runtimes_fd;
	__u32 *tgids;
	size_t count;
};

static void add(struct end *end, __u32 tgid)
{
	__u32 *tgids = list_add(&end->tgids, &end->count, sizeof(*tgids));

	if (!tgids)
		return;
	*tgids = tgid;
}

static void end_one(__u32 tgid, void *data)
{
	struct end *end = data;
	struct runtime known;
	__u32 before;

	if (bpf_map_lookup_elem(end->runtimes_fd, &tgid, &known) || !(known.flags & FLAGS))
		return;
	before = known.flags;
	known.flags &= ~FLAGS;
	if (!bpf_map_update_elem(end->runtimes_fd, &tgid, &known, BPF_EXIST) &&
	    (before & RUNTIME_SHOWN) && (before & RUNTIME_SHOWABLE))
		add(end, tgid);
}

static bool was_shown(__u32 tgid, void *data)
{
	const struct end *end = data;

	for (size_t i = 0; i < end->count; i++)
		if (end->tgids[i] == tgid)
			return true;
	return false;
}

void shown_end(int runtimes_fd, struct runtime_probes *probes)
{
	struct end end = {.runtimes_fd = runtimes_fd};

	processes_each(runtimes_fd, end_one, &end);
	runtime_probes_hide(probes, NULL, RUNTIME_SHOWN);
	if (end.count)
		node_contexts_withdraw_of(was_shown, &end);
	free(end.tgids);
}
