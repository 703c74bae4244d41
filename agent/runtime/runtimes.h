/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding out what the processes run that take requests (map `runtimes`). One daemon of the node
 * does it, whoever gets the lock; the others stand by.
 */
#ifndef CTXPROP_RUNTIMES_H
#define CTXPROP_RUNTIMES_H

#include <linux/types.h>

/* Are profilers to see what goroutines work on (traces_ctx_v1)? */
enum runtimes_publish {
	RUNTIMES_PUBLISH_AUTO, /* where they do not change too often (RUNTIME_CHANGES_MAX) */
	RUNTIMES_PUBLISH_ALWAYS,
	RUNTIMES_PUBLISH_NEVER,
};

/* What was found out about a process. */
struct runtimes_news {
	__u32 tgid;
	__u32 kind;           /* enum runtime_kind */
	__u32 flags;          /* enum runtime_flags */
	unsigned int minor;   /* RUNTIME_GO, RUNTIME_PYTHON, RUNTIME_RUBY: of the version */
	unsigned int major;   /* RUNTIME_RUBY: of the version, with minor */
	const char *language; /* of what runs it, for people; or NULL */
	const char *why;      /* why it cannot be followed, or not beyond threads; or NULL */
	int err;              /* uprobes could not be attached: -errno */
};

typedef void (*runtimes_tell)(const struct runtimes_news *news);

struct runtimes;

/* Stand by. `tell` hears of every process that runs something special. 0 or -errno. */
int runtimes_open(runtimes_tell tell, enum runtimes_publish publish,
		  struct runtimes **ret_runtimes);
void runtimes_close(struct runtimes *runtimes);

/* Descriptor to wait for with POLLIN; -1 while another daemon does the work. */
int runtimes_fd(const struct runtimes *runtimes);

/* Look at the processes that the probes ask for. 0 or -errno. */
int runtimes_update(struct runtimes *runtimes);

/*
 * To be called now and then: takes over when the other daemon is gone, and detaches from
 * programs that nobody runs any more. 0 or -errno.
 */
int runtimes_do(struct runtimes *runtimes);

#endif
