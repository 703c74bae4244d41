/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CTXPROP_TIME_NAMESPACE_H
#define CTXPROP_TIME_NAMESPACE_H

#include <stdbool.h>

#define TIME_NAMESPACE_WHY                                                                         \
	"this time namespace has clocks of its own, which are not those of the kernel's "          \
	"programs: "                                                                               \
	"start it in the host's (nsenter --time=/proc/1/ns/time)"

/*
 * Does this process see other times of CLOCK_MONOTONIC or CLOCK_BOOTTIME than BPF programs do
 * (time_namespaces(7))?
 */
bool time_namespace_differs(void);

#endif
