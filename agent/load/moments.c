// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "load/moments.h"
#include "load/node_maps.h"
#include "load/rules.h"
#include "moment_bpf.skel.h"

struct moments {
	struct moment_bpf *skeleton;
};

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
	return err ? err : moment_bpf__attach(moments->skeleton);
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
