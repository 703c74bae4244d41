// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <bpf/bpf.h>

#include "abi.h"
#include "base/cleanup.h"
#include "load/layout.h"
#include "pins/pins.h"

int layout_check(const char *layer_dir, char *ret_why, size_t size)
{
	char path[PINS_PATH_MAX];
	_cleanup_close_ int fd = bpf_obj_get(pins_map_path(path, layer_dir, "version"));
	struct version version;
	__u32 index = 0;

	if (fd < 0 || bpf_map_lookup_elem(fd, &index, &version) || !version.abi)
		return -ENOENT;
	if (version.abi == CTXPROP_ABI_VERSION && version.flow_size == sizeof(struct flow))
		return 0;
	snprintf(ret_why, size, "ABI version %u with flows of %u bytes, not %d with %zu",
		 version.abi, version.flow_size, CTXPROP_ABI_VERSION, sizeof(struct flow));
	return -EPROTO;
}
