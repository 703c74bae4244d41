// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <linux/capability.h>
#include <linux/types.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/privileges.h"

static const int kept[] = {CAP_BPF,        CAP_NET_ADMIN,       CAP_PERFMON,
			   CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_SYS_ADMIN};

static __u64 mask_of_kept(void)
{
	__u64 mask = 0;

	for (unsigned int i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		mask |= 1ULL << kept[i];
	return mask;
}

/* Out of the bounding set, while we still may. Without CAP_SETPCAP it stays as it is. */
static void bound(__u64 mask)
{
	for (int capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++)
		if (!(mask & 1ULL << capability))
			prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
}

int privileges_drop(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
	__u64 mask = mask_of_kept();

	if (syscall(SYS_capget, &header, data))
		return -errno;
	bound(mask);
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		data[i].permitted &= (__u32)(mask >> (32 * i));
		data[i].effective = data[i].permitted;
		data[i].inheritable = 0;
	}
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(SYS_capset, &header, data))
		return -errno;
	return 0;
}
