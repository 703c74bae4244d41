/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where Ruby's interpreter puts things into its queues (Thread::Queue, Thread::SizedQueue) and
 * takes them out. All its functions for queues begin by asking whether the object is one, by the
 * description of that type; what waits in a queue is in an array of Ruby.
 */
#ifndef CTXPROP_RUBY_QUEUES_H
#define CTXPROP_RUBY_QUEUES_H

#include "runtime/elf_image.h"

/* Programs of bpf/probes/ruby_queue.bpf.c, and where they are attached. */
enum ruby_probe {
	RUBY_PUT,   /* a call: an item is put at the end of the array */
	RUBY_TAKEN, /* a call: the first one is taken out */
	RUBY_ASKED, /* the beginning of the function that does so, or waits for one */
	RUBY_PROBES
};

struct ruby_site {
	enum ruby_probe probe;
	__u64 offset; /* in the file */
};

#define RUBY_SITES 8

struct ruby_queues {
	unsigned int count; /* 0: they are not known */
	struct ruby_site site[RUBY_SITES];
};

/* 0, or -ENOTSUP: its queues are built in a way that is not known. */
int ruby_queues_find(struct elf_image *image, struct ruby_queues *ret_queues);

#endif
