// SPDX-License-Identifier: Apache-2.0
#include <bpf/bpf.h>

#include "abi.h"
#include "base/cleanup.h"
#include "load/control.h"
#include "pins/pins.h"

static int open_control(const char *layer_dir)
{
	char path[PINS_PATH_MAX];

	return bpf_obj_get(pins_map_path(path, layer_dir, "control"));
}

int control_set_paused(const char *layer_dir, bool paused)
{
	_cleanup_close_ int fd = open_control(layer_dir);
	struct control control = {.paused = paused};
	__u32 index = 0;

	return fd < 0 ? fd : bpf_map_update_elem(fd, &index, &control, BPF_ANY);
}

int control_is_paused(const char *layer_dir)
{
	_cleanup_close_ int fd = open_control(layer_dir);
	struct control control;
	__u32 index = 0;
	int err = fd < 0 ? fd : bpf_map_lookup_elem(fd, &index, &control);

	return err ? err : control.paused != 0;
}
