/* SPDX-License-Identifier: Apache-2.0 */
/* The policy of a daemon, and how it is put in force in the packet programs. */
#ifndef CTXPROP_DAEMON_POLICIES_H
#define CTXPROP_DAEMON_POLICIES_H

#include <pthread.h>

#include "control/policy_types.h"
#include "pins/pins.h"
#include "load/policy_maps.h"

struct policy_hits;

#define POLICIES_FILE "/etc/ctxprop/policy"

struct policies {
	struct policy_maps maps;
	struct policy policy;    /* in force; changed by the daemon's main thread only */
	pthread_mutex_t lock;    /* held while it changes, and by other threads that read it */
	const char *file;        /* where it is read from at start and on SIGHUP */
	bool file_must_exist;    /* named on the command line */
	__u64 stamp;             /* of the file as it was read; 0: there was none */
	const struct pins *pins; /* where changes are kept for the next daemon */
	__u64 named; /* a hash of the numbers of all devices and cgroups that rules name */
};

/*
 * Read the policy of the file; where there is no file and none was named, the built-in rules are
 * all. A bad line is logged. Nothing is in force yet. 0 or -errno.
 */
int policies_read(struct policies *policies, const char *file);

/*
 * Put in force what was read, in the maps of a layer; or, if the file has not changed since, the
 * policy as ctxprop has changed it. The pins must outlive it. Errors are logged. 0 or -errno.
 */
int policies_begin(struct policies *policies, const struct policy_maps *maps,
		   const struct pins *pins);

/* Keep what is in force now for the next daemon. */
void policies_keep(const struct policies *policies);

/* Read the file again. A bad line is logged and the old policy stays. */
void policies_reload(struct policies *policies);

/*
 * Put another policy in force; it is taken over and `policy` is empty then. On error the old one
 * stays, and `policy` as it is. 0 or -errno.
 */
int policies_apply(struct policies *policies, struct policy *policy, struct policy_error *error);

/* Put the policy in force again if devices or cgroups that rules name have come or gone. */
void policies_refresh(struct policies *policies);

/*
 * For any thread: a copy of the policy in force, which the caller clears, and what its rules have
 * counted. 0 or -errno, then there is no copy.
 */
int policies_hits(struct policies *policies, struct policy *ret, struct policy_hits *ret_hits);

/* Frees what is held; the programs keep their image. */
void policies_close(struct policies *policies);

#endif
