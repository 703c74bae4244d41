// SPDX-License-Identifier: Apache-2.0
#include <errno.h>

#include "inspect/probe_sites.h"

int probe_sites_add(struct probe_sites *sites, const struct elf_image *image, __u32 file,
		    __u32 probe, __u64 address)
{
	struct probe_site site = {.probe = probe, .file = file};
	int err = elf_image_offset(image, address, &site.offset);

	if (err)
		return err;
	if (sites->count == PROBE_SITES_MAX)
		return -E2BIG;
	sites->site[sites->count++] = site;
	return 0;
}

unsigned int probe_sites_count(const struct probe_sites *sites, __u32 probe)
{
	unsigned int count = 0;

	for (__u32 i = 0; i < sites->count; i++)
		count += sites->site[i].probe == probe;
	return count;
}
