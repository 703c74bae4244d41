/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call frame information (.eh_frame: Linux Standard Base 5, DWARF 4 section 6.4) as a table that
 * the sampler searches (bpf/profile/sample.h). x86-64.
 */
#ifndef CTXPROP_PROFILE_UNWIND_EH_FRAME_H
#define CTXPROP_PROFILE_UNWIND_EH_FRAME_H

#include <stddef.h>
#include <linux/types.h>

#include "profile/sample.h"

/* The contents of a section .eh_frame, and the address that it has in its file. */
struct eh_frame {
	const __u8 *data;
	size_t size;
	__u64 address;
};

/*
 * Write the rules of all functions, sorted by address, as rows whose `pc` counts from `base`.
 * Whatever is not understood gets a row that says so. Returns how many rows there are; -E2BIG:
 * there is no room for them; -EINVAL: this is no .eh_frame.
 */
long eh_frame_rows(const struct eh_frame *section, __u64 base, struct profile_row *rows,
		   size_t room);

#endif
