/* SPDX-License-Identifier: Apache-2.0 */
/* The counters of the BPF programs, one per reason. */
#ifndef CTXPROP_COUNTERS_H
#define CTXPROP_COUNTERS_H

#include "abi.h"

/* Read all counters, each summed over the CPUs. `fd` is the map `counters`. 0 or -errno. */
int counters_read(int fd, struct counters *ret_counters);

#endif
