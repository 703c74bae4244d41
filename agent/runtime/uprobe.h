/* SPDX-License-Identifier: Apache-2.0 */
/* Attaches a BPF program to a place in the file of a program. */
#ifndef CTXPROP_UPROBE_H
#define CTXPROP_UPROBE_H

#include <stdbool.h>
#include <linux/types.h>
#include <bpf/libbpf.h>

/*
 * Has the kernel (6.6 and later) links for uprobes? On others each is a perf event, which in some
 * kernels takes CAP_SYS_ADMIN.
 */
bool uprobe_has_links(void);

/* Prepare a program, before it is loaded, to be attached by such links. */
void uprobe_prepare(struct bpf_program *program);

struct uprobe_place {
	int fd;         /* of the file, as its contents were read: no path can lead elsewhere */
	__u64 offset;   /* in the file */
	bool at_return; /* of the function that begins there */
};

/* Attach a program to a place and pin that. `by_link`: it was prepared. 0 or -errno. */
int uprobe_attach(int prog_fd, bool by_link, const struct uprobe_place *place, const char *pin);

#endif
