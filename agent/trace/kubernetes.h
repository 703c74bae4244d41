/* SPDX-License-Identifier: Apache-2.0 */
/* The pod that a process runs in, by its cgroup and its environment. */
#ifndef CTXPROP_KUBERNETES_H
#define CTXPROP_KUBERNETES_H

#include <stddef.h>

#include "trace/attributes.h"

#define KUBERNETES_UID_MAX 37 /* a UUID and its NUL */

/*
 * The UID of the pod in the text of /proc/PID/cgroup, as the kubelet names cgroups, with either
 * driver: a UUID with dashes, or of static pods 32 hex digits. 0 or -ENOENT.
 */
int kubernetes_uid_of_cgroup(const char *text, char ret_uid[KUBERNETES_UID_MAX]);

/*
 * Add k8s.* of a process in a pod: its UID, and name, namespace and node as far as the environment
 * (NUL-terminated texts one after the other) has them by the names that manifests commonly give to
 * fields of the downward API, and else the name by HOSTNAME, if that is not `host`: pods of the
 * host's network have its name there.
 */
void kubernetes_add(char attributes[ATTRIBUTES_MAX], const char *uid, const char *environment,
		    size_t size, const char *host);

#endif
