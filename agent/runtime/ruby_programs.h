/* SPDX-License-Identifier: Apache-2.0 */
/* Interpreters of Ruby whose queues are followed: uprobes. */
#ifndef CTXPROP_RUBY_PROGRAMS_H
#define CTXPROP_RUBY_PROGRAMS_H

#include <sys/stat.h>

#include "runtime/ruby.h"
#include "runtime/uprobe_pins.h"

struct ruby_programs;

/* Load the programs of bpf/probes/ruby_queue.bpf.c over the node's maps. 0 or -errno. */
int ruby_programs_open(struct uprobe_pins *pins, struct ruby_programs **ret_programs);

/* Let go. The uprobes stay where they are. */
void ruby_programs_close(struct ruby_programs *programs);

/* Attach to all sites of a program (the file `program`) that have no probes yet. 0 or -errno. */
int ruby_programs_attach(struct ruby_programs *programs, const struct stat *program,
			 const struct ruby *ruby);

#endif
