/* SPDX-License-Identifier: Apache-2.0 */
/* The Go programs (files) whose goroutines are followed: uprobes in each. */
#ifndef CTXPROP_GO_PROGRAMS_H
#define CTXPROP_GO_PROGRAMS_H

#include <stdbool.h>
#include <sys/stat.h>

#include "runtime/golang.h"
#include "runtime/uprobe_programs.h"

struct go_programs;

/* The programs of bpf/probes/goroutine.bpf.c, as uprobe_programs_open(). 0 or -errno. */
int go_programs_open(struct uprobe_pins *pins, struct go_programs **ret_programs);

/* As uprobe_programs_lack(). */
int go_programs_lack(const struct go_programs *programs);

/* Let go. The uprobes stay where they are. */
void go_programs_close(struct go_programs *programs);

/*
 * Attach to the program of `subject`, which `golang` describes, as far as that was not done before;
 * to channels where the process has the flag RUNTIME_POOLS, to changes of goroutines where it has
 * RUNTIME_SHOWN. 0 or -errno.
 */
int go_programs_attach(struct go_programs *programs, const struct subject *subject,
		       const struct golang *golang, __u32 flags);

/* Changes of goroutines in the program of this file are of interest no more. */
void go_programs_hide(struct go_programs *programs, const struct stat *file);

/* What is known of the program in this file; NULL: it was not attached to. */
const struct golang *go_programs_known(const struct go_programs *programs, const struct stat *file);

/* Forget what is known of programs that `is_used` says no to. */
void go_programs_forget(struct go_programs *programs,
			bool (*is_used)(const struct stat *file, void *data), void *data);

#endif
