/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of the sockets that the probes follow: read on demand by a BPF iterator, which
 * is loaded for that and gone afterwards.
 */
#ifndef CTXPROP_RECORDS_H
#define CTXPROP_RECORDS_H

#include <stddef.h>

#include "abi.h"

struct records {
	struct record_entry *entry; /* sorted by addresses and ports */
	size_t count;
};

/*
 * Read those of a network namespace (as in struct flow_key; 0: of all). To be freed. 0 or -errno.
 */
int records_read(__u32 netns, struct records *ret_records);

void records_free(struct records *records);

/* The socket at our end of a flow, or NULL. */
const struct record_entry *records_find(const struct records *records, const struct flow_key *key);

#endif
