/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TCX links (Linux 6.6), by the bpf(2) call itself: libbpf has them from 1.3 on, and older
 * kernel headers lack the names.
 */
#ifndef CTXPROP_TCX_H
#define CTXPROP_TCX_H

#include <stdbool.h>
#include <linux/types.h>

#include "load/hook.h"

/* Does this kernel have TCX? Asks about the loopback device and changes nothing. */
bool tcx_supported(void);

/*
 * Attach a program to a device: first on ingress, last on egress.
 * Returns the link's descriptor (closing it detaches, unless it is pinned) or -errno.
 */
int tcx_attach(int prog_fd, int ifindex, enum hook hook);

/* How many TCX programs stand at a device's hook, ours and others'. -errno, also without TCX. */
int tcx_count(int ifindex, enum hook hook);

/* Which device a link is attached to; 0: none any more. 0 or -errno. */
int tcx_link_ifindex(int link_fd, int *ret_ifindex);

#endif
