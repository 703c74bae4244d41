// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <linux/types.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/number.h"
#include "base/privileges.h"

#define UPROBE_TYPE_FILE "/sys/bus/event_source/devices/uprobe/type"

static const int kept[] = {CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON, CAP_SYS_PTRACE,
			   CAP_DAC_READ_SEARCH};

/* The capabilities of this process, as two words each. */
struct rights {
	struct __user_cap_header_struct header;
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
};

static int read_rights(struct rights *ret)
{
	*ret = (struct rights){.header = {.version = _LINUX_CAPABILITY_VERSION_3}};
	return syscall(SYS_capget, &ret->header, ret->data) ? -errno : 0;
}

/* Use no others than these; `for_good`: and have no others. */
static int limit_rights(struct rights rights, __u64 mask, bool for_good)
{
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		__u32 word = (__u32)(mask >> (32 * i));

		rights.data[i].effective = rights.data[i].permitted & word;
		rights.data[i].inheritable = 0;
		if (for_good)
			rights.data[i].permitted &= word;
	}
	return syscall(SYS_capset, &rights.header, rights.data) ? -errno : 0;
}

/* The type of perf event that uprobes are. Returns whether it is known. */
static bool uprobe_type(__u32 *ret_type)
{
	char text[16] = "";
	_cleanup_close_ int fd = open(UPROBE_TYPE_FILE, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	unsigned long type;

	if (length <= 0)
		return false;
	text[strcspn(text, "\n")] = '\0';
	if (number_parse(text, 0, UINT_MAX, &type))
		return false;
	*ret_type = (__u32)type;
	return true;
}

/*
 * Is a uprobe refused for want of rights? Since Linux 6.16, and in stable kernels of that time, it
 * takes CAP_SYS_ADMIN instead of CAP_PERFMON. The rights are checked before the path is looked at.
 */
static bool uprobe_refused(void)
{
	static const char nowhere[] = "/proc/self/nowhere";
	struct perf_event_attr attr = {.size = sizeof(attr),
				       .config1 = (__u64)(unsigned long)nowhere};

	if (!uprobe_type(&attr.type))
		return false;
	_cleanup_close_ int fd =
	    (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 && (errno == EACCES || errno == EPERM);
}

/* Out of the bounding set, while we still may. Without CAP_SETPCAP it stays as it is. */
static void bound(__u64 mask)
{
	for (int capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++)
		if (!(mask & 1ULL << capability))
			prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
}

int privileges_drop(bool enters_netns, bool uprobe_events, bool names_kernel, bool *ret_admin)
{
	struct rights rights;
	__u64 mask = 0;
	int err = read_rights(&rights);

	for (unsigned int i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		mask |= 1ULL << kept[i];
	if (names_kernel)
		mask |= 1ULL << CAP_SYSLOG;
	if (!err)
		err = limit_rights(rights, mask, false);
	if (err)
		return err;
	*ret_admin = (enters_netns || (uprobe_events && uprobe_refused())) &&
		     rights.data[0].permitted & 1U << CAP_SYS_ADMIN;
	if (*ret_admin)
		mask |= 1ULL << CAP_SYS_ADMIN;
	err = limit_rights(rights, ~0ULL, false);
	if (err)
		return err;
	bound(mask);
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	return limit_rights(rights, mask, true);
}

/* The capabilities with which a daemon follows what it has not started. */
static const struct {
	int capability;
	struct privileges_lack lack;
} following[PRIVILEGES_LACKS] = {
    {CAP_SYS_PTRACE,
     {"CAP_SYS_PTRACE",
      "runtimes (Go, Python, Node, Java, Ruby) in the programs of other users are not followed, "
      "and --netns does not find the network namespaces of their processes"}},
    {CAP_DAC_READ_SEARCH,
     {"CAP_DAC_READ_SEARCH",
      "runtimes in programs whose files it may not read, as those of containers, are not "
      "followed"}},
};

int privileges_lacking(pid_t pid, struct privileges_lack ret[PRIVILEGES_LACKS])
{
	struct rights rights = {.header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = pid}};
	int count = 0;

	if (syscall(SYS_capget, &rights.header, rights.data))
		return -errno;
	for (int i = 0; i < PRIVILEGES_LACKS; i++)
		if (!(rights.data[0].effective & 1U << following[i].capability))
			ret[count++] = following[i].lack;
	return count;
}
