/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network namespaces in which the daemon works: its own, and all others that are wanted and can
 * be found. It gets notifications about them by rtnetlink, and also searches for them from time to
 * time.
 */
#ifndef CTXPROP_SITES_H
#define CTXPROP_SITES_H

#include <stdbool.h>
#include <stddef.h>

#include "daemon/site.h"
#include "daemon/wanted.h"

struct sites;

struct sites_options {
	struct engine *engine;
	const struct wanted *wanted; /* namespaces beside the own one */
	enum attach_way way;
	__u64 cookie; /* of the own namespace */
	/*
	 * Called when namespaces have ended: those for which `gone` returns true. `name`: the name
	 * of the one that has ended; NULL: they ended while no daemon ran.
	 */
	void (*on_gone)(const char *name, bool (*gone)(__u32 netns, void *data), void *gone_data,
			void *data);
	void *data;
};

/*
 * Attach in all of them. The pins of the own namespace are locked by `lock_fd`, which is taken
 * over. 0 or -errno, which was logged.
 */
int sites_open(const struct sites_options *options, const struct pins *home, int lock_fd,
	       struct sites **ret_sites);

/* The descriptor to poll for input, and what to call then. 0 or -errno. */
int sites_fd(const struct sites *sites);
int sites_update(struct sites *sites);

/*
 * Search for namespaces, if it is time. Returns the milliseconds until it is time again; -1: never.
 */
int sites_look(struct sites *sites);

/* The layer whose maps all namespaces share. */
const char *sites_layer(const struct sites *sites);

/* Devices that have the programs, and in how many namespaces. */
size_t sites_devices(const struct sites *sites);
size_t sites_count(const struct sites *sites);

/*
 * Enter the namespace by the low half of its cookie, until sites_leave(). -ENOENT: it is none of
 * them, or -errno.
 */
int sites_enter(struct sites *sites, __u32 netns);
void sites_leave(struct sites *sites);

/* The namespace with this cookie, 0: the own one. It is entered until sites_leave(); NULL: none. */
struct site *sites_enter_site(struct sites *sites, __u64 cookie);

/*
 * Stop working in a whole namespace, or work in it, which also holds for the next daemon. 0;
 * -ENOENT: it is not known, or not found; -EPERM: the daemon was started for its own namespace
 * only; or -errno, and nothing has changed.
 */
int sites_drop(struct sites *sites, __u64 cookie);
int sites_take(struct sites *sites, __u64 cookie);

/* Remove everything from all namespaces. 0 or -errno, which was logged. */
int sites_remove(struct sites *sites);

/* Frees what is held; the programs stay where they are. NULL is allowed. */
void sites_close(struct sites *sites);

#endif
