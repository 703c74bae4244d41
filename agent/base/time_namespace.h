/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CTXPROP_TIME_NAMESPACE_H
#define CTXPROP_TIME_NAMESPACE_H

#include <stdbool.h>

#define TIME_NAMESPACE_WHY                                                                         \
	"this time namespace has clocks of its own, which are not those of the kernel's "          \
	"programs: "                                                                               \
	"start it in the host's (nsenter --time=/proc/1/ns/time)"

/*
 * Do CLOCK_MONOTONIC or CLOCK_BOOTTIME differ between this process and BPF programs
 * (time_namespaces(7))?
 */
bool time_namespace_differs(void);

#endif
