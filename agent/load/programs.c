// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include "pins/pins.h"
#include "load/programs.h"

int programs_ids(int fds[HOOKS][FRAMINGS], __u32 ret_ids[PROGRAMS])
{
	for (int i = 0; i < PROGRAMS; i++) {
		struct bpf_prog_info info = {};
		__u32 size = sizeof(info);
		int fd = fds[i / FRAMINGS][i % FRAMINGS];
		int err = fd < 0 ? 0 : bpf_obj_get_info_by_fd(fd, &info, &size);

		if (err)
			return err;
		ret_ids[i] = info.id;
	}
	return 0;
}

int programs_open(const char *layer_dir, const __u32 ids[PROGRAMS], int ret_fds[HOOKS][FRAMINGS])
{
	char path[PINS_PATH_MAX];

	for (int i = 0; i < PROGRAMS; i++) {
		int fd = -1;

		snprintf(path, sizeof(path), "%s/progs/%u", layer_dir, ids[i]);
		if (ids[i])
			fd = bpf_obj_get(path);
		if (ids[i] && fd < 0)
			return fd;
		ret_fds[i / FRAMINGS][i % FRAMINGS] = fd;
	}
	return 0;
}

int programs_pin(const char *layer_dir, int fds[HOOKS][FRAMINGS])
{
	__u32 ids[PROGRAMS];
	char path[PINS_PATH_MAX];
	int err = programs_ids(fds, ids);

	for (int i = 0; !err && i < PROGRAMS; i++) {
		if (!ids[i])
			continue;
		snprintf(path, sizeof(path), "%s/progs/%u", layer_dir, ids[i]);
		err = bpf_obj_pin(fds[i / FRAMINGS][i % FRAMINGS], path);
		if (err == -EEXIST)
			err = 0;
	}
	return err;
}

static int unpin_if_other(const char *path, const char *name, void *data)
{
	const __u32 *ids = data;

	for (int i = 0; i < PROGRAMS; i++)
		if (strtoul(name, NULL, 10) == ids[i])
			return 0;
	return unlink(path) ? -errno : 0;
}

int programs_drop_others(const char *layer_dir, int fds[HOOKS][FRAMINGS])
{
	__u32 ids[PROGRAMS];
	char progs[PINS_PATH_MAX];
	int err = programs_ids(fds, ids);

	return err ? err : pins_each(pins_join(progs, layer_dir, "progs"), unpin_if_other, ids);
}
