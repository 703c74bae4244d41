/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where Ruby's interpreter puts things into its queues (Thread::Queue, Thread::SizedQueue) and
 * takes them out. All its functions for queues begin by asking whether the object is one, by the
 * description of that type; what waits in a queue is in an array of Ruby.
 */
#ifndef CTXPROP_RUNTIMES_RUBY_QUEUES_H
#define CTXPROP_RUNTIMES_RUBY_QUEUES_H

#include "inspect/probe_sites.h"

/* Programs of runtimes/ruby/queue.bpf.c, and where they are attached. */
enum ruby_probe {
	RUBY_PUT,   /* a call: an item is put at the end of the array */
	RUBY_TAKEN, /* a call: the first one is taken out */
	RUBY_ASKED, /* the beginning of the function that does so, or waits for one */
	RUBY_PROBES
};

/*
 * Add them to `sites`, which has none; `file` is the index of the image's file in the subject. 0,
 * or -ENOTSUP, and none was added: its queues are built in a way that is not known.
 */
int ruby_queues_find(struct elf_image *image, __u32 file, struct probe_sites *sites);

#endif
