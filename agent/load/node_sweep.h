/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CTXPROP_NODE_SWEEP_H
#define CTXPROP_NODE_SWEEP_H

/*
 * Remove what the node's maps have of processes, threads and requests that are gone, also from the
 * map that profilers read. The probes do so when one ends; this is for what they missed, so that an
 * agent that lives long leaks nothing. Outside the initial process namespace, where numbers mean
 * others, nothing is done. Returns how many entries were removed, or -errno.
 */
int node_sweep(void);

#endif
