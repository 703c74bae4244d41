// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/perf_event.h>
#include <bpf/bpf.h>

#include "base/cleanup.h"
#include "runtime/uprobe.h"

/* Headers before Linux 6.6 do not have these. */
#define ATTACH_TYPE_UPROBE_MULTI 48
#define MULTI_RETURN             1 /* BPF_F_UPROBE_MULTI_RETURN */
#define FD_PATH_MAX              32
/* What the kernel tells of events that are uprobes. */
#define EVENTS "/sys/bus/event_source/devices/uprobe/"

/* What BPF_LINK_CREATE wants for them. */
struct multi_attr {
	__u32 prog_fd, target_fd, attach_type, flags;
	__u64 path, offsets, ref_ctr_offsets, cookies;
	__u32 count, multi_flags, pid, reserved;
};

/* The kernel wants a path: this one leads to the file of a descriptor, wherever that is. */
static const char *path_of(int fd, char path[FD_PATH_MAX])
{
	snprintf(path, FD_PATH_MAX, "/proc/self/fd/%d", fd);
	return path;
}

/* The descriptor of a link, or -errno. */
static int link_create(int prog_fd, const struct uprobe_place *place)
{
	char path[FD_PATH_MAX];
	struct multi_attr attr = {
	    .prog_fd = (__u32)prog_fd,
	    .attach_type = ATTACH_TYPE_UPROBE_MULTI,
	    .path = (__u64)(unsigned long)path_of(place->fd, path),
	    .offsets = (__u64)(unsigned long)&place->offset,
	    .count = 1,
	    .multi_flags = place->at_return ? MULTI_RETURN : 0,
	};
	long fd = syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));

	return fd < 0 ? -errno : (int)fd;
}

bool uprobe_has_links(void)
{
	const struct bpf_insn nothing[] = {
	    {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
	    {.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = ATTACH_TYPE_UPROBE_MULTI);
	_cleanup_close_ int prog_fd =
	    bpf_prog_load(BPF_PROG_TYPE_KPROBE, "uprobe", "GPL", nothing, 2, &opts);
	_cleanup_close_ int nowhere = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	const struct uprobe_place place = {.fd = nowhere};
	int link_fd = prog_fd < 0 ? -EINVAL : link_create(prog_fd, &place);

	cleanup_close(&link_fd);
	return link_fd != -EINVAL; /* it says -EBADF: no regular file */
}

void uprobe_prepare(struct bpf_program *program)
{
	bpf_program__set_expected_attach_type(program, ATTACH_TYPE_UPROBE_MULTI);
}

/* A number that a file of the kernel has behind this text. 0 or -errno. */
static int read_number(const char *path, const char *format, unsigned int *ret_number)
{
	FILE *file = fopen(path, "re");
	int found;

	if (!file)
		return -errno;
	found = fscanf(file, format, ret_number);
	fclose(file);
	return found == 1 ? 0 : -EINVAL;
}

/* The descriptor of an event that comes when a place is passed, or -errno. */
static int open_event(const struct uprobe_place *place)
{
	char path[FD_PATH_MAX];
	struct perf_event_attr attr = {
	    .size = sizeof(attr),
	    .uprobe_path = (__u64)(unsigned long)path_of(place->fd, path),
	    .probe_offset = place->offset,
	};
	unsigned int type = 0, bit = 0;
	int err = read_number(EVENTS "type", "%u", &type);
	long fd;

	if (!err)
		err = read_number(EVENTS "format/retprobe", "config:%u", &bit);
	if (err)
		return err;
	attr.type = type;
	attr.config = place->at_return ? 1ULL << bit : 0;
	fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

/* The same for kernels without such links. It is for all processes, on whatever processor. */
static int link_event(int prog_fd, const struct uprobe_place *place)
{
	_cleanup_close_ int event = open_event(place), link = -1;

	if (event < 0)
		return event;
	link = bpf_link_create(prog_fd, event, BPF_PERF_EVENT, NULL);
	if (link < 0)
		return link;
	return ioctl(event, PERF_EVENT_IOC_ENABLE, 0) ? -errno : take_fd(&link);
}

int uprobe_attach(int prog_fd, bool by_link, const struct uprobe_place *place, const char *pin)
{
	_cleanup_close_ int fd = by_link ? link_create(prog_fd, place) : link_event(prog_fd, place);

	if (fd < 0)
		return fd;
	return bpf_obj_pin(fd, pin) ? -errno : 0;
}
