/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of the sockets that the probes follow: read on demand by a BPF iterator, which
 * is loaded for that and gone afterwards.
 */
#ifndef CTXPROP_RECORDS_H
#define CTXPROP_RECORDS_H

#include "flows/told.h"

/*
 * Read those of a network namespace (as in struct flow_key; 0: of all), as struct record_entry.
 * To be freed. 0 or -errno.
 */
int records_read(__u32 netns, struct told *ret_records);

#endif
