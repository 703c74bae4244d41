// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <bpf/bpf.h>

#include "base/cleanup.h"
#include "load/policy_maps.h"

int policy_maps_next_generation(const struct policy_maps *maps, __u32 *ret_generation)
{
	__u32 index = 0, generation;
	int err = bpf_map_lookup_elem(maps->state_fd, &index, &generation);

	if (err)
		return err;
	generation = generation >= POLICY_GENERATION_MAX ? 1 : generation + 1;
	err = bpf_map_update_elem(maps->state_fd, &index, &generation, BPF_ANY);
	if (!err)
		*ret_generation = generation;
	return err;
}

int policy_maps_put(const struct policy_maps *maps, const struct policy_image *image)
{
	__u32 index = 0;
	int err;

	if (!image) {
		err = bpf_map_delete_elem(maps->image_fd, &index);
		return err == -ENOENT ? 0 : err;
	}

	_cleanup_close_ int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "policy_image", sizeof(index),
						sizeof(*image), 1, NULL);

	if (fd < 0)
		return fd;
	err = bpf_map_update_elem(fd, &index, image, BPF_ANY);
	/* The kernel waits here until no program uses the image that was there. */
	return err ? err : bpf_map_update_elem(maps->image_fd, &index, &fd, BPF_ANY);
}
