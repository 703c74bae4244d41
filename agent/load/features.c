// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <bpf/bpf.h>

#include "base/cleanup.h"
#include "base/netns.h"
#include "base/time_namespace.h"
#include "load/features.h"

static const struct {
	int capability;
	const char *name;
} needed[] = {
    {CAP_BPF, "CAP_BPF"},
    {CAP_NET_ADMIN, "CAP_NET_ADMIN"},
    {CAP_PERFMON, "CAP_PERFMON"},
};

static __u64 effective_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};

	if (syscall(SYS_capget, &header, data))
		return 0;
	return data[0].effective | (__u64)data[1].effective << 32;
}

/* CAP_SYS_ADMIN stands for CAP_BPF and CAP_PERFMON. */
static bool is_granted(__u64 effective, int capability)
{
	bool admin = effective & 1ULL << CAP_SYS_ADMIN;

	return effective & 1ULL << capability || (admin && capability != CAP_NET_ADMIN);
}

static int check_rights(char *ret_problem, size_t size)
{
	__u64 effective = effective_capabilities();
	char missing[64] = "";

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		size_t used = strlen(missing);

		if (!is_granted(effective, needed[i].capability))
			snprintf(missing + used, sizeof(missing) - used, " %s", needed[i].name);
	}
	if (!missing[0])
		return 0;
	snprintf(ret_problem, size,
		 "missing capabilities:%s; run as root or grant them to the service", missing);
	return -EPERM;
}

static int check_bpf(char *ret_problem, size_t size)
{
	_cleanup_close_ int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "ctxprop_probe", sizeof(__u32),
						sizeof(__u32), 1, NULL);
	int err = fd < 0 ? fd : 0;

	if (err == -ENOSYS)
		snprintf(ret_problem, size,
			 "this kernel has no bpf(2); it needs CONFIG_BPF_SYSCALL=y");
	else if (err == -EPERM)
		snprintf(ret_problem, size,
			 "bpf(2) is refused although the capabilities are there; look for a "
			 "seccomp filter or security module, and for RLIMIT_MEMLOCK");
	else if (err)
		snprintf(ret_problem, size, "bpf(2) cannot create a map: %s", strerror(-err));
	return err;
}

static int check_cookie(char *ret_problem, size_t size)
{
	__u64 cookie;
	int err = netns_cookie(&cookie);

	if (err)
		snprintf(
		    ret_problem, size,
		    "this kernel does not tell network namespaces apart (SO_NETNS_COOKIE: %s); "
		    "ctxprop needs Linux 6.1 or newer",
		    strerror(-err));
	return err;
}

int features_check(char *ret_problem, size_t size)
{
	int err = check_rights(ret_problem, size);

	if (!err)
		err = check_bpf(ret_problem, size);
	if (!err)
		err = check_cookie(ret_problem, size);
	if (!err && time_namespace_differs()) {
		snprintf(ret_problem, size, "%s", TIME_NAMESPACE_WHY);
		err = -EXDEV;
	}
	return err;
}

void features_raise_limits(void)
{
	struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY}, files;

	(void)setrlimit(RLIMIT_MEMLOCK, &unlimited);
	if (getrlimit(RLIMIT_NOFILE, &files))
		return;
	files.rlim_cur = files.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &files);
}
