// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stddef.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "load/tcx.h"

/* From include/uapi/linux/bpf.h of Linux 6.6; older headers lack them. */
static const __u32 attach_types[HOOKS] = {[HOOK_IN] = 46, [HOOK_OUT] = 47};
static const __u32 flag_before = 1 << 3; /* with no relative program: before all others */

#define LOOPBACK_IFINDEX 1 /* in every network namespace */

/* The part of union bpf_attr that BPF_LINK_CREATE reads for TCX. */
struct tcx_link_create {
	__u32 prog_fd;
	__u32 ifindex;
	__u32 attach_type;
	__u32 flags;
	__u32 relative_fd;
	__u32 reserved;
	__u64 expected_revision;
};
_Static_assert(offsetof(struct tcx_link_create, expected_revision) == 24, "as in the kernel");

/*
 * The part of union bpf_attr that BPF_PROG_QUERY uses. To its end: the kernel writes the revision
 * back whatever size it was told.
 */
struct tcx_query {
	__u32 ifindex;
	__u32 attach_type;
	__u32 query_flags;
	__u32 attach_flags;
	__u64 prog_ids;
	__u32 count;
	__u32 reserved;
	__u64 prog_attach_flags;
	__u64 link_ids;
	__u64 link_attach_flags;
	__u64 revision;
};
_Static_assert(offsetof(struct tcx_query, revision) == 56, "as in the kernel");

/* struct bpf_link_info of a TCX link. */
struct tcx_link_info {
	__u32 type;
	__u32 id;
	__u32 prog_id;
	__u32 reserved;
	__u32 ifindex;
	__u32 attach_type;
};

static int bpf_call(enum bpf_cmd command, void *attr, size_t size)
{
	long result = syscall(SYS_bpf, command, attr, size);

	return result < 0 ? -errno : (int)result;
}

bool tcx_supported(void)
{
	struct tcx_query query = {.ifindex = LOOPBACK_IFINDEX,
				  .attach_type = attach_types[HOOK_IN]};

	return !bpf_call(BPF_PROG_QUERY, &query, sizeof(query));
}

int tcx_count(int ifindex, enum hook hook)
{
	struct tcx_query query = {.ifindex = (__u32)ifindex, .attach_type = attach_types[hook]};
	int err = bpf_call(BPF_PROG_QUERY, &query, sizeof(query));

	return err < 0 ? err : (int)query.count;
}

int tcx_attach(int prog_fd, int ifindex, enum hook hook)
{
	struct tcx_link_create create = {
	    .prog_fd = (__u32)prog_fd,
	    .ifindex = (__u32)ifindex,
	    .attach_type = attach_types[hook],
	    .flags = hook == HOOK_IN ? flag_before : 0,
	};

	return bpf_call(BPF_LINK_CREATE, &create, sizeof(create));
}

int tcx_link_ifindex(int link_fd, int *ret_ifindex)
{
	struct tcx_link_info info = {};
	struct {
		__u32 fd;
		__u32 size;
		__u64 info;
	} attr = {(__u32)link_fd, sizeof(info), (__u64)(unsigned long)&info};
	int err = bpf_call(BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr));

	if (!err)
		*ret_ifindex = (int)info.ifindex;
	return err;
}
