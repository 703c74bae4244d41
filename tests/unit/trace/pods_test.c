// SPDX-License-Identifier: Apache-2.0
/* Lists of pods in the shape of a kubelet's answers: whose names a process gets, and what is
 * refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "trace/pods.h"

#define UID   "2c48913c-b29f-11e7-9350-020968147796"
#define PLAIN "3c0f2b1c8d9e4a5b6c7d8e9f0a1b2c3d" /* of a static pod */
#define ID    "8e46af2fd4d5f1ba03b1a1c0b1a3d3f8d94b0c0e6a6a8b0a6a5f3b2c1d0e9f8a"
#define INIT  "9f46af2fd4d5f1ba03b1a1c0b1a3d3f8d94b0c0e6a6a8b0a6a5f3b2c1d0e9f8a"
#define LIST(items)                                                                                \
	"{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{},\"items\":" items "}"

/* A pod with this label, and what controls it. */
#define POD(label, owner)                                                                          \
	"{\"metadata\":{\"name\":\"cart-x\",\"namespace\":\"shop\",\"uid\":\"" UID                 \
	"\",\"labels\":{\"pod-template-hash\":\"" label                                            \
	"\"},\"ownerReferences\":[{\"kind\":\"Node\",\"name\":\"n\"}," owner                       \
	"]},\"spec\":{\"nodeName\":\"node-1\"},\"status\":{\"initContainerStatuses\":[{\"name\":"  \
	"\"prepare\",\"containerID\":\"cri-o://" INIT                                              \
	"\"}],\"containerStatuses\":[{\"name\":\"waits\"},{\"name\":\"web\",\"containerID\":"      \
	"\"containerd://" ID "\"}]}}"
#define OWNER(kind, name) "{\"kind\":\"" kind "\",\"name\":\"" name "\",\"controller\":true}"
#define STATIC                                                                                     \
	"{\"metadata\":{\"name\":\"etcd-node-1\",\"namespace\":\"kube-system\",\"uid\":\"" PLAIN   \
	"\"},\"spec\":{},\"status\":{}}"
#define NAMES "k8s.pod.name=cart-x\nk8s.namespace.name=shop\nk8s.node.name=node-1\n"

static struct pods *read_list(const char *text)
{
	struct pods *pods = NULL;
	char why[128] = "";

	assert_int_equal(pods_read(text, strlen(text), &pods, why, sizeof(why)), 0);
	assert_string_equal(why, "");
	return pods;
}

/* What a process of a pod gets, by a list of one pod. */
static void expect_some(const char *text, const char *container, bool is_all, const char *wanted)
{
	char attributes[ATTRIBUTES_MAX] = "";
	struct pods *pods = read_list(text);

	assert_int_equal(pods_add(pods, UID, container, attributes), is_all);
	assert_string_equal(attributes, wanted);
	pods_free(pods);
}

static void expect(const char *text, const char *container, const char *wanted)
{
	expect_some(text, container, true, wanted);
}

static void names_what_controls(void **state)
{
	(void)state;
	expect(LIST("[" POD("5d4f", OWNER("ReplicaSet", "cart-5d4f")) "]"), "",
	       NAMES "k8s.deployment.name=cart\nk8s.replicaset.name=cart-5d4f\n");
	expect(LIST("[" POD("5d4f", OWNER("ReplicaSet", "cart-6e5f")) "]"), "",
	       NAMES "k8s.replicaset.name=cart-6e5f\n");
	expect(LIST("[" POD("", OWNER("ReplicaSet", "cart-")) "]"), "",
	       NAMES "k8s.replicaset.name=cart-\n");
	expect(LIST("[" POD("5d4f", OWNER("ReplicaSet", "-5d4f")) "]"), "",
	       NAMES "k8s.replicaset.name=-5d4f\n");
	expect(LIST("[" POD("5d4f", OWNER("StatefulSet", "cart-5d4f")) "]"), "",
	       NAMES "k8s.statefulset.name=cart-5d4f\n");
	expect(LIST("[" POD("", OWNER("Job", "j")) "]"), "", NAMES "k8s.job.name=j\n");
	expect(LIST("[" POD("", OWNER("Rollout", "r")) "]"), "", NAMES);
}

static void names_containers(void **state)
{
	(void)state;
	expect(LIST("[" POD("", OWNER("DaemonSet", "d")) "]"), ID,
	       NAMES "k8s.daemonset.name=d\nk8s.container.name=web\n");
	expect(LIST("[" POD("", OWNER("DaemonSet", "d")) "]"), INIT,
	       NAMES "k8s.daemonset.name=d\nk8s.container.name=prepare\n");
	expect_some(LIST("[" POD("", OWNER("DaemonSet", "d")) "]"), UID, false,
		    NAMES "k8s.daemonset.name=d\n");
}

static void keeps_what_is_said(void **state)
{
	char attributes[ATTRIBUTES_MAX] = "k8s.pod.name=said\n";
	struct pods *pods = read_list(LIST("[" STATIC "," POD("", OWNER("Job", "j")) "]"));

	(void)state;
	assert_int_equal(pods_count(pods), 2);
	assert_true(pods_add(pods, UID, "", attributes));
	assert_string_equal(attributes, "k8s.pod.name=said\nk8s.namespace.name=shop\n"
					"k8s.node.name=node-1\nk8s.job.name=j\n");
	*attributes = '\0';
	assert_true(pods_add(pods, PLAIN, "", attributes));
	assert_string_equal(attributes,
			    "k8s.pod.name=etcd-node-1\nk8s.namespace.name=kube-system\n");
	pods_free(pods);
}

static void lacks_others(void **state)
{
	static const char *const lists[] = {LIST("[]"), LIST("null"), LIST("[" STATIC "]"),
					    "{\"kind\":\"PodList\"}"};
	char attributes[ATTRIBUTES_MAX] = "";

	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		struct pods *pods = read_list(lists[i]);

		assert_false(pods_add(pods, UID, ID, attributes));
		assert_string_equal(attributes, "");
		pods_free(pods);
	}
}

static void refuses(void **state)
{
	static const char *const bad[] = {"",
					  "{",
					  "[]",
					  "null",
					  "{\"kind\":\"Status\"}",
					  LIST("[{}]"),
					  LIST("[7]"),
					  LIST("[{\"metadata\":{\"uid\":\"" UID UID "\"}}]"),
					  LIST("[]") "x"};
	struct pods *pods = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char why[128] = "";

		assert_int_equal(pods_read(bad[i], strlen(bad[i]), &pods, why, sizeof(why)),
				 -EINVAL);
		assert_string_not_equal(why, "");
		assert_null(pods);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(names_what_controls),
	    cmocka_unit_test(names_containers),
	    cmocka_unit_test(keeps_what_is_said),
	    cmocka_unit_test(lacks_others),
	    cmocka_unit_test(refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
