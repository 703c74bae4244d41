// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "load/node_maps.h"
#include "pins/pins.h"
#include "logs/threads.h"
#include "record/lines.h"

#define FIELDS_BEHIND_NAME 19 /* of /proc/PID/stat: from the state to the start */

/* The boot-time clock ticks at which it started; -1: it is gone. */
static long long started_ticks(__u32 pid)
{
	char path[32], text[1024];
	const char *at;
	size_t size;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return -1;
	size = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[size] = '\0';
	/* The name may have anything in it, also blanks. */
	at = strrchr(text, ')');
	for (int i = 0; at && i <= FIELDS_BEHIND_NAME; i++)
		at = strchr(at + 1, ' ');
	return at ? strtoll(at, NULL, 10) : -1;
}

static __s64 clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * (__s64)NS_PER_SECOND + now.tv_nsec;
}

static bool was_there(__u32 pid, __s64 wall_ns)
{
	__s64 ticks = started_ticks(pid), tick_ns = (__s64)NS_PER_SECOND / sysconf(_SC_CLK_TCK);

	/* Told in whole ticks. */
	return ticks >= 0 &&
	       (ticks + 1) * tick_ns + clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME) <
		   wall_ns;
}

static DIR *open_folder(__u32 pid, const char *name)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	return opendir(path);
}

/* Does it hold an epoll set, or may do so? */
static bool may_loop(__u32 pid)
{
	static const char epoll[] = "anon_inode:[eventpoll]", uring[] = "anon_inode:[io_uring]";
	_cleanup_closedir_ DIR *folder = open_folder(pid, "fd");
	const struct dirent *entry;
	char target[64];
	ssize_t length;

	if (!folder)
		return true;
	while ((entry = readdir(folder))) {
		length = readlinkat(dirfd(folder), entry->d_name, target, sizeof(target) - 1);
		target[length > 0 ? length : 0] = '\0';
		if (!strcmp(target, epoll) || !strcmp(target, uring))
			return true;
	}
	return false;
}

static unsigned int count_threads(__u32 pid)
{
	_cleanup_closedir_ DIR *folder = open_folder(pid, "task");
	const struct dirent *entry;
	unsigned int count = 0;

	while (folder && (entry = readdir(folder)))
		count += entry->d_name[0] != '.';
	return count;
}

static bool is_simple(int processes_fd, __u32 pid)
{
	struct process process;

	return !bpf_map_lookup_elem(processes_fd, &pid, &process) &&
	       line_process_is_simple(&process);
}

int threads_open(void)
{
	char path[PINS_PATH_MAX];

	return bpf_obj_get(pins_map_path(path, node_maps_layer_dir(), "processes"));
}

enum threads_kind threads_kind(int processes_fd, __u32 pid, __s64 wall_ns)
{
	unsigned int threads = 0;

	if (was_there(pid, wall_ns) && is_simple(processes_fd, pid) && !may_loop(pid))
		threads = count_threads(pid);
	if (!threads)
		return THREADS_UNKNOWN;
	return threads == 1 ? THREADS_ONE : THREADS_SEVERAL;
}
