// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "load/adopt.h"
#include "load/engine.h"
#include "load/entry.h"
#include "load/layer.h"
#include "load/left.h"
#include "load/node_maps.h"
#include "tc.skel.h"

struct count {
	const struct pins *own;
	int others;
};

static int count_other(const char *path, const char *name, void *data)
{
	struct count *count = data;
	char layer[PINS_PATH_MAX];

	(void)name;
	pins_join(layer, path, strrchr(count->own->layer_dir, '/') + 1);
	count->others += strcmp(path, count->own->netns_dir) != 0 &&
			 layer_has_maps_of(layer, count->own->layer_dir);
	return 0;
}

static void destroy(struct tc **tc)
{
	tc__destroy(*tc);
}

static void find_programs(const struct tc *tc, int ret_prog_fd[HOOKS][FRAMINGS])
{
	ret_prog_fd[HOOK_IN][FRAMING_ETHERNET] = bpf_program__fd(tc->progs.ctxprop_in_eth);
	ret_prog_fd[HOOK_IN][FRAMING_IP] = bpf_program__fd(tc->progs.ctxprop_in_ip);
	ret_prog_fd[HOOK_OUT][FRAMING_ETHERNET] = bpf_program__fd(tc->progs.ctxprop_out_eth);
	ret_prog_fd[HOOK_OUT][FRAMING_IP] = bpf_program__fd(tc->progs.ctxprop_out_ip);
}

/* The programs, once more, over the same maps. */
static int share_quiet_programs(const char *layer_dir)
{
	__attribute__((cleanup(destroy))) struct tc *tc = tc__open();
	_cleanup_close_ int programs_fd = -1;
	int fds[HOOKS][FRAMINGS], err;

	if (!tc)
		return -errno;
	tc->rodata->only_translate = 1;
	err = node_maps_share(tc->obj, NULL, 0);
	if (!err)
		err = adopt_maps(layer_dir, tc->obj);
	if (!err)
		err = tc__load(tc);
	if (err)
		return err;
	find_programs(tc, fds);
	programs_fd = entry_share(layer_dir, fds);
	return programs_fd < 0 ? programs_fd : 0;
}

int left_count(const struct pins *pins)
{
	struct count count = {.own = pins};
	int err = pins_each(PINS_ROOT, count_other, &count);

	return err ? err : count.others;
}

int left_quieten(const struct pins *pins)
{
	char path[PINS_PATH_MAX];
	int err, others;

	/* No daemon of this namespace has ever used entries. */
	if (access(pins_map_path(path, pins->layer_dir, ENTRY_MAP), F_OK))
		return 0;
	others = left_count(pins);
	if (others < 0)
		return others;
	if (others)
		err = share_quiet_programs(pins->layer_dir);
	else
		err = unlink(path) ? -errno : 0;
	return err ? err : others;
}
