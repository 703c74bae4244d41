/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pods of this node and their containers, as the kubelet lists them (a PodList of Kubernetes,
 * in JSON).
 */
#ifndef CTXPROP_TRACE_PODS_H
#define CTXPROP_TRACE_PODS_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/attributes.h"

#define PODS_MAX       2048 /* of a list; a kubelet has 110 by default */
#define PODS_BYTES_MAX (64UL << 20)

struct pods;

/*
 * Read a list. 0 and pods for the caller to free; -ENOMEM; -EINVAL: it is no such list, `ret_why`
 * says why; -E2BIG: it has more pods.
 */
int pods_read(const char *text, size_t size, struct pods **ret_pods, char *ret_why,
	      size_t why_size);

/* NULL is allowed. */
void pods_free(struct pods *pods);

size_t pods_count(const struct pods *pods);

/*
 * Add k8s.* of the pod with that UID, as cgroups have it, and of its container (id; empty: none):
 * names of pod, namespace, node, container, and of what controls the pod, a ReplicaSet's Deployment
 * if the pod's own label proves it. Returns whether pod and container are in the list.
 */
bool pods_add(const struct pods *pods, const char *uid, const char *container,
	      char attributes[ATTRIBUTES_MAX]);

#endif
