/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The uprobe programs of all runtimes. Each stands alone: where those of one cannot be loaded, or
 * attached to a program, the others are as they were.
 */
#ifndef CTXPROP_RUNTIME_PROBES_H
#define CTXPROP_RUNTIME_PROBES_H

#include <stdbool.h>
#include <sys/stat.h>

#include "runtime/classify.h"
#include "runtime/runtimes.h"
#include "runtime/uprobe_pins.h"

struct go_programs;
struct uprobe_programs;

/* Of one runtime. */
struct runtime_probe {
	struct uprobe_programs *programs;
	int err;   /* programs NULL: why, -errno */
	bool said; /* that they cannot be loaded */
};

struct runtime_probes {
	runtimes_lack lack;
	struct go_programs *go;
	int go_err;   /* go NULL */
	bool go_said; /* as of the others */
	struct runtime_probe python, haproxy, ruby, node;
};

/*
 * Programs are loaded when a process needs them first; `lack` hears once of each runtime whose
 * programs cannot be. `pins` has to live as long.
 */
void runtime_probes_open(struct uprobe_pins *pins, runtimes_lack lack,
			 struct runtime_probes *ret_probes);

/* Let go. The uprobes stay where they are. */
void runtime_probes_close(struct runtime_probes *probes);

/*
 * Attach to what a process runs, unless that was done before. What then can be followed in it is
 * put into found->runtime. 0 or -errno: it was not attached to.
 */
int runtime_probes_attach(struct runtime_probes *probes, const struct subject *subject,
			  struct classified *found);

/* As those of go_programs.h. */
const struct golang *runtime_probes_known(const struct runtime_probes *probes,
					  const struct stat *file);
void runtime_probes_hide(struct runtime_probes *probes, const struct stat *file);
void runtime_probes_forget(struct runtime_probes *probes,
			   bool (*is_used)(const struct stat *file, void *data), void *data);

#endif
