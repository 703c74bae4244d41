/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of HAProxy whose streams are followed: the uprobe in each file. */
#ifndef CTXPROP_HAPROXY_PROGRAMS_H
#define CTXPROP_HAPROXY_PROGRAMS_H

#include "runtime/haproxy.h"
#include "runtime/uprobe_programs.h"

/* The programs of bpf/probes/stream.bpf.c, as uprobe_programs_open(). 0 or -errno. */
int haproxy_programs_open(struct uprobe_pins *pins, struct uprobe_programs **ret_programs);

/* Attach to the program of a process, unless that was done before. 0 or -errno. */
int haproxy_programs_attach(struct uprobe_programs *programs, const struct subject *subject,
			    const struct probe_sites *sites);

#endif
