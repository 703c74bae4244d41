// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "trace/kubernetes.h"
#include "trace/pods.h"

#define CONTAINER_NAME_MAX 64 /* a DNS label, with its NUL */
#define CONTAINER_ID_MAX   65
#define CONTAINERS_MAX     64 /* of a pod, with those that it begins with */

struct container {
	char id[CONTAINER_ID_MAX], name[CONTAINER_NAME_MAX];
};

struct pod {
	char uid[KUBERNETES_UID_MAX]; /* that of its cgroup */
	char attributes[ATTRIBUTES_MAX];
	struct container *container;
	size_t containers;
};

struct pods {
	size_t count;
	struct pod pod[];
};

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static void add(struct pod *pod, const char *key, const char *value)
{
	attributes_add(pod->attributes, key, strlen(key), value, strlen(value));
}

/*
 * A Deployment gives its ReplicaSets its name with the hash of the pods' template behind it, and
 * pods the hash as a label. Others than Deployments do not set that label.
 */
static void add_deployment(struct pod *pod, const json_t *labels, const char *replica_set)
{
	const char *hash = text_of(labels, "pod-template-hash");
	const size_t length = strlen(replica_set), behind = strlen(hash) + 1;
	char name[ATTRIBUTES_VALUE_MAX];

	if (behind == 1 || length <= behind || length - behind >= sizeof(name) ||
	    replica_set[length - behind] != '-' ||
	    strcmp(replica_set + length - behind + 1, hash) != 0)
		return;
	text_copy(name, length - behind + 1, replica_set);
	add(pod, "k8s.deployment.name", name);
}

static void add_owner(struct pod *pod, const json_t *labels, const json_t *owner)
{
	static const struct {
		const char *kind, *key;
	} known[] = {{"ReplicaSet", "k8s.replicaset.name"},
		     {"StatefulSet", "k8s.statefulset.name"},
		     {"DaemonSet", "k8s.daemonset.name"},
		     {"Job", "k8s.job.name"}};
	const char *kind = text_of(owner, "kind"), *name = text_of(owner, "name");

	if (!json_is_true(json_object_get(owner, "controller")))
		return;
	if (!strcmp(kind, "ReplicaSet"))
		add_deployment(pod, labels, name);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(kind, known[i].kind))
			add(pod, known[i].key, name);
}

/* "containerd://ID": the id, or an empty text before it is started. */
static void add_container(struct pod *pod, const json_t *status)
{
	const char *id = strstr(text_of(status, "containerID"), "://");
	struct container *container = &pod->container[pod->containers];

	if (!id || !id[3] || strlen(id + 3) >= CONTAINER_ID_MAX ||
	    pod->containers == CONTAINERS_MAX)
		return;
	text_copy(container->id, sizeof(container->id), id + 3);
	text_copy(container->name, sizeof(container->name), text_of(status, "name"));
	pod->containers++;
}

static int add_containers(struct pod *pod, const json_t *status)
{
	static const char *const lists[] = {"containerStatuses", "initContainerStatuses",
					    "ephemeralContainerStatuses"};
	const json_t *one;
	size_t i;

	pod->container = calloc(CONTAINERS_MAX, sizeof(*pod->container));
	if (!pod->container)
		return -ENOMEM;
	for (size_t list = 0; list < sizeof(lists) / sizeof(lists[0]); list++)
		json_array_foreach(json_object_get(status, lists[list]), i, one)
		    add_container(pod, one);
	return 0;
}

static int read_pod(struct pod *pod, const json_t *item)
{
	const json_t *metadata = json_object_get(item, "metadata"), *owner;
	const char *uid = text_of(metadata, "uid"); /* of a static pod, its hash */
	size_t i;

	if (!*uid || strlen(uid) >= sizeof(pod->uid))
		return -EINVAL;
	text_copy(pod->uid, sizeof(pod->uid), uid);
	add(pod, "k8s.pod.name", text_of(metadata, "name"));
	add(pod, "k8s.namespace.name", text_of(metadata, "namespace"));
	add(pod, "k8s.node.name", text_of(json_object_get(item, "spec"), "nodeName"));
	json_array_foreach(json_object_get(metadata, "ownerReferences"), i, owner)
	    add_owner(pod, json_object_get(metadata, "labels"), owner);
	return add_containers(pod, json_object_get(item, "status"));
}

static int read_items(const json_t *items, struct pods **ret_pods)
{
	const size_t count = json_array_size(items);
	struct pods *pods;
	const json_t *item;
	size_t i;
	int err = 0;

	if (count > PODS_MAX)
		return -E2BIG;
	pods = calloc(1, sizeof(*pods) + count * sizeof(pods->pod[0]));
	if (!pods)
		return -ENOMEM;
	json_array_foreach(items, i, item)
	{
		err = read_pod(&pods->pod[pods->count++], item);
		if (err)
			break;
	}
	if (err)
		pods_free(pods);
	else
		*ret_pods = pods;
	return err;
}

int pods_read(const char *text, size_t size, struct pods **ret_pods, char *ret_why, size_t why_size)
{
	json_error_t error = {};
	json_t *list = json_loadb(text, size, 0, &error);
	const json_t *items = json_object_get(list, "items");
	int err = -EINVAL;

	if (!list)
		snprintf(ret_why, why_size, "line %d: %s", error.line, error.text);
	else if (strcmp(text_of(list, "kind"), "PodList") != 0)
		snprintf(ret_why, why_size, "it is no PodList");
	else /* a list without pods has none, or null */
		err = read_items(items, ret_pods);
	if (err == -E2BIG)
		snprintf(ret_why, why_size, "more than %d pods", PODS_MAX);
	else if (err && list && items)
		snprintf(ret_why, why_size, "%s",
			 err == -ENOMEM ? "no memory" : "a pod without UID");
	json_decref(list);
	return err;
}

void pods_free(struct pods *pods)
{
	if (!pods)
		return;
	for (size_t i = 0; i < pods->count; i++)
		free(pods->pod[i].container);
	free(pods);
}

size_t pods_count(const struct pods *pods)
{
	return pods->count;
}

/* Returns whether there is such a container, or none was asked for. */
static bool add_container_name(const struct pod *pod, const char *id,
			       char attributes[ATTRIBUTES_MAX])
{
	static const char key[] = "k8s.container.name";

	for (size_t i = 0; i < pod->containers; i++) {
		const struct container *container = &pod->container[i];

		if (strcmp(container->id, id) != 0)
			continue;
		attributes_add(attributes, key, sizeof(key) - 1, container->name,
			       strlen(container->name));
		return true;
	}
	return !*id;
}

bool pods_add(const struct pods *pods, const char *uid, const char *container,
	      char attributes[ATTRIBUTES_MAX])
{
	struct attribute one;
	const char *at;
	size_t i = 0;

	while (i < pods->count && strcmp(pods->pod[i].uid, uid) != 0)
		i++;
	if (i == pods->count)
		return false;
	at = pods->pod[i].attributes;
	while (attributes_next(&at, &one))
		attributes_add(attributes, one.key, one.key_length, one.value, one.value_length);
	return add_container_name(&pods->pod[i], container, attributes);
}
