// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <bpf/bpf.h>

#include "base/cleanup.h"
#include "context/model.h"
#include "load/node_maps.h"
#include "load/node_sweep.h"
#include "load/pins.h"

/* The inode of the initial process namespace: PROC_PID_INIT_INO of the kernel. */
#define INITIAL_PID_NAMESPACE 0xeffffffcU

/* More than any of the maps has entries. */
#define STEPS_MAX (1 << 18)

/* Keys of both maps begin with the process, whose id this is. */
_Static_assert(offsetof(struct worker_key, tgid) == 0, "a worker's key begins with its process");

/* The keys of `workers` and `processes`. */
union key {
	__u32 tgid;
	struct worker_key worker;
};

static bool numbers_are_ours(void)
{
	struct stat status;

	return !stat("/proc/self/ns/pid", &status) && status.st_ino == INITIAL_PID_NAMESPACE;
}

static bool is_gone(__u32 tgid)
{
	return kill((pid_t)tgid, 0) && errno == ESRCH;
}

/* Returns how many entries of a map were removed, or -errno. */
static int sweep(const char *map)
{
	char path[PINS_PATH_MAX];
	_cleanup_close_ int fd = bpf_obj_get(pins_map_path(path, node_maps_layer_dir(), map));
	union key key, next;
	int removed = 0, steps = 0;

	if (fd < 0)
		return fd;
	/* Where a key vanishes meanwhile the kernel begins anew. */
	for (int err = bpf_map_get_next_key(fd, NULL, &next); !err && steps < STEPS_MAX; steps++) {
		key = next;
		err = bpf_map_get_next_key(fd, &key, &next);
		if (is_gone(key.tgid) && !bpf_map_delete_elem(fd, &key))
			removed++;
	}
	return removed;
}

int node_sweep(void)
{
	int workers, processes;

	if (!numbers_are_ours())
		return 0;
	workers = sweep("workers");
	processes = sweep("processes");
	if (workers < 0 || processes < 0)
		return workers < 0 ? workers : processes;
	return workers + processes;
}
