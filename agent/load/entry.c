// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include "abi.h"
#include "base/cleanup.h"
#include "entry.skel.h"
#include "load/entry.h"
#include "pins/pins.h"

_Static_assert(ENTRY_IN_ETH == HOOK_IN * FRAMINGS + FRAMING_ETHERNET &&
		   ENTRY_IN_IP == HOOK_IN * FRAMINGS + FRAMING_IP &&
		   ENTRY_OUT_ETH == HOOK_OUT * FRAMINGS + FRAMING_ETHERNET &&
		   ENTRY_OUT_IP == HOOK_OUT * FRAMINGS + FRAMING_IP,
	       "places in the map follow hook and framing");

static void cleanup_entry(struct entry **entry)
{
	entry__destroy(*entry);
}

/* The pinned map, or a new one that is pinned now. */
static int open_map(const char *layer_dir)
{
	char path[PINS_PATH_MAX];
	_cleanup_close_ int fd = bpf_obj_get(pins_map_path(path, layer_dir, ENTRY_MAP));
	int err;

	if (fd != -ENOENT)
		return take_fd(&fd);
	fd = bpf_map_create(BPF_MAP_TYPE_PROG_ARRAY, ENTRY_MAP, sizeof(__u32), sizeof(__u32),
			    ENTRY_PROGRAMS, NULL);
	if (fd < 0)
		return take_fd(&fd);
	err = bpf_obj_pin(fd, path);
	return err ? err : take_fd(&fd);
}

int entry_share(const char *layer_dir, int prog_fd[HOOKS][FRAMINGS])
{
	_cleanup_close_ int fd = open_map(layer_dir);

	/* Ingress first: nothing is edited before acknowledgements can be translated. */
	for (__u32 i = 0; fd >= 0 && i < ENTRY_PROGRAMS; i++) {
		int *program = &prog_fd[i / FRAMINGS][i % FRAMINGS];
		int err = *program < 0 ? 0 : bpf_map_update_elem(fd, &i, program, BPF_ANY);

		if (err)
			return err;
	}
	return take_fd(&fd);
}

/* Descriptors that outlive the object. */
static int keep_programs(const struct entry *entry, int ret_prog_fd[HOOKS][FRAMINGS])
{
	const struct bpf_program *const programs[ENTRY_PROGRAMS] = {
	    [ENTRY_IN_ETH] = entry->progs.ctxprop_in_eth,
	    [ENTRY_IN_IP] = entry->progs.ctxprop_in_ip,
	    [ENTRY_OUT_ETH] = entry->progs.ctxprop_out_eth,
	    [ENTRY_OUT_IP] = entry->progs.ctxprop_out_ip,
	};

	for (int i = 0; i < ENTRY_PROGRAMS; i++) {
		int fd = fcntl(bpf_program__fd(programs[i]), F_DUPFD_CLOEXEC, 0);

		if (fd < 0)
			return -errno;
		ret_prog_fd[i / FRAMINGS][i % FRAMINGS] = fd;
	}
	return 0;
}

int entry_load(int programs_fd, __u64 netns_cookie, int ret_prog_fd[HOOKS][FRAMINGS])
{
	__attribute__((cleanup(cleanup_entry))) struct entry *entry = entry__open();
	int err = entry ? 0 : -errno;

	if (!err) {
		entry->rodata->entry_netns = (__u32)netns_cookie;
		err = bpf_map__reuse_fd(entry->maps.programs, programs_fd);
	}
	if (!err)
		err = entry__load(entry);
	return err ? err : keep_programs(entry, ret_prog_fd);
}
