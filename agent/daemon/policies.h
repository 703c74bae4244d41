/* SPDX-License-Identifier: Apache-2.0 */
/* The policy that a daemon holds, and its way into the packet programs. */
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
	__u64 named;             /* what the names of devices and cgroups came to, as one number */
};

/*
 * Read the policy of the file; where there is no file and none was named, the built-in rules are
 * all. A bad line is logged. Nothing is in force yet. 0 or -errno.
 */
int policies_read(struct policies *policies, const char *file);

/*
 * Put what was read in force, in the maps of a layer; or what ctxprop has made of it since, if the
 * file is the same still. The pins must outlive it. What is wrong is logged. 0 or -errno.
 */
int policies_begin(struct policies *policies, const struct policy_maps *maps,
		   const struct pins *pins);

/* What is in force now is kept for the next daemon. */
void policies_keep(const struct policies *policies);

/* Read the file again. A bad line is logged and the old policy stays. */
void policies_reload(struct policies *policies);

/*
 * Put another policy in force; it is taken over and `policy` is empty then. On error the old one
 * stays, and `policy` as it is. 0 or -errno.
 */
int policies_apply(struct policies *policies, struct policy *policy, struct policy_error *error);

/* Devices and cgroups come and go: let the rules mean those that are there now. */
void policies_refresh(struct policies *policies);

/*
 * For any thread: a copy of the policy in force, which the caller clears, and what its rules have
 * counted. 0 or -errno, then there is no copy.
 */
int policies_hits(struct policies *policies, struct policy *ret, struct policy_hits *ret_hits);

/* Frees what is held; the programs keep their image. */
void policies_close(struct policies *policies);

#endif
