/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process is called in traces: what its environment says (OTEL_SERVICE_NAME, or service.name
 * in OTEL_RESOURCE_ATTRIBUTES, as OpenTelemetry's SDKs read them), or else the name of its program,
 * of an interpreter's that of the script. Of one that is gone before anybody could look there is
 * its name (comm), and its cgroup. Rules of users outrank that (service_rules.h).
 */
#ifndef CTXPROP_SERVICE_H
#define CTXPROP_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "inspect/proc_reader.h"
#include "records.h"
#include "trace/attributes.h"
#include "trace/pods.h"
#include "trace/service_rules.h"

#define SERVICE_NAME_MAX      64
#define SERVICE_CONTAINER_MAX 65 /* 64 hex digits */
#define SERVICE_OWNER_MAX     SERVICE_CONTAINER_MAX

struct service {
	char name[SERVICE_NAME_MAX];           /* empty: not known */
	char container[SERVICE_CONTAINER_MAX]; /* id; empty: none that its cgroup tells */
	char owner[SERVICE_OWNER_MAX];         /* who has a share of tables: container or "uid N" */
	char attributes[ATTRIBUTES_MAX];       /* all else that is known, without the name */
};

/* Are name, container, owner and attributes the same? */
bool service_is_same(const struct service *a, const struct service *b);

/* What users and the kubelet say of processes; each NULL: nothing. */
struct service_lists {
	struct service_rules *rules;
	struct pods *pods;
	bool misses_pod; /* a process was looked at whose pod or container is not in the list */
};

/*
 * What /proc, by `reader`, and the lists tell of a process, which may note a pod that is missing.
 * Its arguments and its environment are none where they do not come. 0; -ESRCH: it is gone, or is
 * going, and that is what was seen of it before (NULL: nothing).
 */
int service_look(__u32 tgid, struct proc_reader *reader, const struct record_process *seen,
		 struct service_lists *lists, struct service *ret_service);

/* The name that an environment gives, NUL-terminated texts one after the other; 0 or -ENOENT. */
int service_name_of_environment(const char *environment, size_t size,
				char ret_name[SERVICE_NAME_MAX]);

/* The name that a command line gives, in the same form. 0 or -ENOENT. */
int service_name_of_command(const char *command, size_t size, char ret_name[SERVICE_NAME_MAX]);

/* The container in the text of /proc/PID/cgroup: the last 64 hex digits in a row. 0 or -ENOENT. */
int service_container_of_cgroup(const char *text, char ret_id[SERVICE_CONTAINER_MAX]);

/* Where a process runs. */
struct service_place {
	const char *cgroup;    /* its path */
	const char *container; /* id; empty: none */
	const char *status;    /* the text of /proc/PID/status */
};

/*
 * The owner with whom this process shares tables: a user, for everything below his slice ("uid
 * 1000"); else a container, whatever users it has; else the real user. Empty: not known.
 */
void service_owner(const struct service_place *place, char ret_owner[SERVICE_OWNER_MAX]);

struct services;

/*
 * A cache of the services of processes, which are read again when a number may belong to another
 * process.
 */
struct services *services_new(void);
void services_free(struct services *services);

/*
 * Use these rules from now on, which then belong to the cache; NULL: none. May be called by any
 * thread.
 */
void services_set_rules(struct services *services, struct service_rules *rules);

/* The same for the pods of this node. */
void services_set_pods(struct services *services, struct pods *pods);

/*
 * Was a process looked at, since this was asked last, whose pod or container is not among those? By
 * any thread.
 */
bool services_miss_pod(struct services *services);

/*
 * The service that a process runs; `tgid` 0: an empty one. If the process is gone, name and
 * container come from what was seen of it before (NULL: nothing). Never NULL; valid until the next
 * call.
 */
const struct service *services_find(struct services *services, __u32 tgid,
				    const struct record_process *seen);

#endif
