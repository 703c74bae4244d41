/* SPDX-License-Identifier: Apache-2.0 */
/* Interpreters of Python, and modules of theirs, whose tasks and queues are followed: uprobes. */
#ifndef CTXPROP_PYTHON_PROGRAMS_H
#define CTXPROP_PYTHON_PROGRAMS_H

#include "runtime/python.h"
#include "runtime/uprobe_programs.h"

/* The programs of bpf/probes/{task,queue}.bpf.c, as uprobe_programs_open(). 0 or -errno. */
int python_programs_open(struct uprobe_pins *pins, struct uprobe_programs **ret_programs);

/* Attach to all places of a process that have no probes yet. 0 or -errno. */
int python_programs_attach(struct uprobe_programs *programs, const struct subject *subject,
			   const struct probe_sites *sites);

#endif
