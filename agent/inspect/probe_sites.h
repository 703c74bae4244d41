/* SPDX-License-Identifier: Apache-2.0 */
/* Places of a program and its libraries at which probes belong. */
#ifndef CTXPROP_PROBE_SITES_H
#define CTXPROP_PROBE_SITES_H

#include "inspect/elf_image.h"

#define PROBE_SITES_MAX 64

struct probe_site {
	__u32 probe;  /* a number that only its runtime knows the meaning of */
	__u32 file;   /* index in the subject (inspect/subject.h) */
	__u64 offset; /* in the file */
};

struct probe_sites {
	__u32 count;
	struct probe_site site[PROBE_SITES_MAX];
};

/* Add the place at an address of a file. 0; -E2BIG: there are too many; -ENOENT: no such address.
 */
int probe_sites_add(struct probe_sites *sites, const struct elf_image *image, __u32 file,
		    __u32 probe, __u64 address);

/* How many are of this probe. */
unsigned int probe_sites_count(const struct probe_sites *sites, __u32 probe);

#endif
