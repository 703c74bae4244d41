// SPDX-License-Identifier: Apache-2.0
/* Pods, by paths of cgroups as kubelets and container runtimes make them, and by environments. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "trace/kubernetes.h"
#include "trace/service.h"

#define ID    "8e46af2fd4d5f1ba03b1a1c0b1a3d3f8d94b0c0e6a6a8b0a6a5f3b2c1d0e9f8a"
#define UID   "2c48913c-b29f-11e7-9350-020968147796"
#define UID_  "2c48913c_b29f_11e7_9350_020968147796"
#define PLAIN "3c0f2b1c8d9e4a5b6c7d8e9f0a1b2c3d"

static void pods_of_cgroups(void **state)
{
	static const struct {
		const char *text, *uid, *container;
	} known[] = {
	    /* systemd's driver, version 2: containerd, CRI-O, Docker; all classes of service */
	    {"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_
	     ".slice/cri-containerd-" ID ".scope\n",
	     UID, ID},
	    {"0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_
	     ".slice/crio-" ID ".scope/container\n",
	     UID, ID},
	    {"0::/kubepods.slice/kubepods-pod" UID_ ".slice/docker-" ID ".scope\n", UID, ID},
	    /* the kubelet below a root of its own, as in kind */
	    {"0::/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice/"
	     "kubelet-kubepods-besteffort-pod" UID_ ".slice/cri-containerd-" ID ".scope\n",
	     UID, ID},
	    /* the driver cgroupfs, versions 2 and 1 */
	    {"0::/kubepods/burstable/pod" UID "/" ID "\n", UID, ID},
	    {"12:pids:/kubepods/pod" UID "/" ID "\n11:cpu,cpuacct:/kubepods/pod" UID "/" ID
	     "\n1:name=systemd:/kubepods/pod" UID "/" ID "\n",
	     UID, ID},
	    {"4:memory:/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_
	     ".slice/" ID "\n",
	     UID, ID},
	    /* static pods have a hash */
	    {"0::/kubepods/burstable/pod" PLAIN "/" ID "\n", PLAIN, ID},
	    {"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" PLAIN
	     ".slice/cri-containerd-" ID ".scope\n",
	     PLAIN, ID},
	    /* the pod itself, and what is below a container */
	    {"0::/kubepods/besteffort/pod" UID "\n", UID, ""},
	    {"0::/kubepods/besteffort/pod" UID "/" ID "/init.scope\n", UID, ID},
	    /* containerd in a systemd that was not told about slices */
	    {"0::/system.slice/containerd.service/kubepods-burstable-pod" UID_
	     ".slice:cri-containerd:" ID "\n",
	     UID, ID},
	    /* none of them */
	    {"0::/system.slice/docker-" ID ".scope\n", NULL, ID},
	    {"0::/user.slice/user-0.slice/session-1.scope\n", NULL, ""},
	    {"0::/machine.slice/libpod-" ID ".scope/container\n", NULL, ID},
	    {"0::/pod" UID "/" ID "\n", NULL, ID},
	    {"0::/kubepods/burstable/pod" UID "0/" ID "\n", NULL, ID},
	    {"0::/kubepods/burstable/podinfo\n", NULL, ""},
	    {"0::/\n", NULL, ""},
	    {"", NULL, ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		char uid[KUBERNETES_UID_MAX], container[SERVICE_CONTAINER_MAX] = "";

		assert_int_equal(kubernetes_uid_of_cgroup(known[i].text, uid),
				 known[i].uid ? 0 : -ENOENT);
		if (known[i].uid)
			assert_string_equal(uid, known[i].uid);
		service_container_of_cgroup(known[i].text, container);
		assert_string_equal(container, known[i].container);
	}
}

static void expect(const char *environment, size_t size, const char *wanted)
{
	char attributes[ATTRIBUTES_MAX] = "";

	kubernetes_add(attributes, UID, environment, size, "node-1");
	assert_string_equal(attributes, wanted);
}

#define OF(text) text, sizeof(text)
#define POD      "k8s.pod.uid=" UID "\n"

static void names_of_environments(void **state)
{
	(void)state;
	expect(OF("A=b"), POD);
	expect(OF("HOSTNAME=cart-5d4f-x\0PATH=/bin"), POD "k8s.pod.name=cart-5d4f-x\n");
	/* Pods of the host's network, and what is no name of a pod. */
	expect(OF("HOSTNAME=node-1"), POD);
	expect(OF("HOSTNAME=My_Host"), POD);
	expect(OF("HOSTNAME="), POD);
	expect(OF("HOSTNAME=x\0POD_NAME=cart-0\0POD_NAMESPACE=shop\0NODE_NAME=node-1"),
	       POD "k8s.pod.name=cart-0\nk8s.namespace.name=shop\nk8s.node.name=node-1\n");
	expect(OF("MY_POD_NAMESPACE=a\0K8S_NAMESPACE=b\0XPOD_NAME=c"),
	       POD "k8s.namespace.name=a\n");
	expect("", 0, POD);
}

/* What the process says itself comes first. */
static void attributes_come_first(void **state)
{
	char attributes[ATTRIBUTES_MAX] = "k8s.pod.name=said\n";

	(void)state;
	kubernetes_add(attributes, UID, OF("POD_NAME=other"), "node-1");
	assert_string_equal(attributes, "k8s.pod.name=said\n" POD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(pods_of_cgroups),
	    cmocka_unit_test(names_of_environments),
	    cmocka_unit_test(attributes_come_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
