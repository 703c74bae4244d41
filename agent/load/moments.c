// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "load/moments.h"
#include "load/node_maps.h"
#include "load/rules.h"
#include "moment_bpf.skel.h"

struct moments {
	struct moment_bpf *skeleton;
};

/* After this time, an interrupt that had begun is over. */
static const struct timespec interrupt = {.tv_nsec = 100000000};

static int attach(struct bpf_program *program, struct bpf_link **ret_link)
{
	*ret_link = bpf_program__attach(program);
	return *ret_link ? 0 : -errno;
}

/* The program that shows a context is never attached without the one that removes it. */
static int attach_both(struct moment_bpf *skeleton)
{
	int err = attach(skeleton->progs.moment_ends, &skeleton->links.moment_ends);

	return err ? err : attach(skeleton->progs.moment_begins, &skeleton->links.moment_begins);
}

static int load(struct moments *moments)
{
	int err;

	moments->skeleton = moment_bpf__open();
	if (!moments->skeleton)
		return -errno;
	err = node_maps_share(moments->skeleton->obj, NULL, 0);
	if (!err)
		err = rules_tell(moments->skeleton->obj);
	if (!err)
		err = moment_bpf__load(moments->skeleton);
	return err ? err : attach_both(moments->skeleton);
}

int moments_open(struct moments **ret_moments)
{
	struct moments *moments = calloc(1, sizeof(*moments));
	int err = moments ? load(moments) : -ENOMEM;

	if (err)
		moments_close(moments);
	else
		*ret_moments = moments;
	return err;
}

void moments_close(struct moments *moments)
{
	if (!moments)
		return;
	if (moments->skeleton && moments->skeleton->links.moment_begins) {
		bpf_link__destroy(moments->skeleton->links.moment_begins);
		moments->skeleton->links.moment_begins = NULL;
		nanosleep(&interrupt, NULL);
	}
	moment_bpf__destroy(moments->skeleton);
	free(moments);
}

__u64 moments_met(const struct moments *moments)
{
	return moments->skeleton->bss->moments_met;
}

void moments_leave_out(struct moments *moments, const __u32 *ids)
{
	memcpy(moments->skeleton->bss->own_samplers, ids, TRACE_READERS_SAMPLERS * sizeof(*ids));
}
